import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import { join } from "node:path";
import { createClient, type CallOptions, type Client } from "@connectrpc/connect";
import type { GrantGate } from "@hlvm/grant/grant-gate";
import type { Narrowing } from "@hlvm/identity/delegation-narrower";
import type { Principal } from "@hlvm/identity/principal";
import { Notifications } from "@hlvm/postgres/notifications";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TeamResolverService, TeamService, TokenResolverService, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { DeviceService, LoginService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { MemberService } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunAnswersService, RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity, type TestIdentity, type TestRun } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { openCommandJudge } from "../adapters/parsers/open-command-judge.ts";
import { APPROVAL_CHANNEL, ApprovalNotices } from "../adapters/postgres/approval-notices.ts";
import { PostgresApprovalStore } from "../adapters/postgres/postgres-approval-store.ts";
import { PostgresAuditLog } from "../adapters/postgres/postgres-audit-log.ts";
import { PostgresAuditReports } from "../adapters/postgres/postgres-audit-reports.ts";
import { PostgresDeviceStore } from "../adapters/postgres/postgres-device-store.ts";
import { PostgresLoginStore } from "../adapters/postgres/postgres-login-store.ts";
import { PostgresMemberStore } from "../adapters/postgres/postgres-member-store.ts";
import { PostgresShareStore } from "../adapters/postgres/postgres-share-store.ts";
import { PostgresTeamStore } from "../adapters/postgres/postgres-team-store.ts";
import { PostgresTokenStore } from "../adapters/postgres/postgres-token-store.ts";
import { PostgresTrustStore } from "../adapters/postgres/postgres-trust-store.ts";
import { createCallJudge } from "../domain/judge/create-call-judge.ts";
import { policyRoutes } from "../rpc/routes.ts";

const MIGRATIONS = join(import.meta.dirname, "../../migrations");

export interface TestPolicy {
  readonly url: string;
  readonly policy: Client<typeof PolicyService>;
  readonly audit: Client<typeof AuditService>;
  readonly answers: Client<typeof RunAnswersService>;
  /** Call options of a person. */
  readonly as: (principal: Principal) => CallOptions;
  /** Call options of the orchestrator in its own name. */
  readonly asOrchestrator: () => CallOptions;
  /** Call options of the edge in its own name. */
  readonly asEdge: () => CallOptions;
  /** Call options of a run, with what its person lets it do. */
  readonly forRun: (run: TestRun) => CallOptions;
  /** Call options of a worker of a run, whose delegation was narrowed for it. */
  readonly forWorker: (run: TestRun, narrowing: Narrowing) => CallOptions;
  readonly gate: () => GrantGate;
  /** All keys of the mesh that it believes to be in. */
  readonly identity: TestIdentity;
  readonly database: TestDatabase;
  /** Tools whose definition differs from the platform's, by name: put one in to change it under way. */
  readonly changedTools: Map<string, ToolDefinition>;
  readonly close: () => Promise<void>;
}

/** The service over a real database and real HTTP, with keys made for the test. */
export async function startTestPolicy({
  approvalSeconds = 60,
  databaseUrl = "",
  fourEyes = new Set<SafetyLevel>(),
} = {}): Promise<TestPolicy> {
  const identity = await createTestIdentity();
  const database = databaseUrl === "" ? await createTestDatabase(MIGRATIONS, "hlvm_policy") : await useDatabase(databaseUrl);
  const notifications = await Notifications.open(database.url, APPROVAL_CHANNEL, testLog);
  const changedTools = new Map<string, ToolDefinition>();
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: policyRoutes({
      audit: new PostgresAuditLog(database.database),
      approvals: new PostgresApprovalStore(database.database, new ApprovalNotices(notifications)),
      reports: new PostgresAuditReports(database.database),
      trust: new PostgresTrustStore(database.database),
      tokens: new PostgresTokenStore(database.database),
      teams: new PostgresTeamStore(database.database),
      shares: new PostgresShareStore(database.database),
      members: new PostgresMemberStore(database.database),
      logins: new PostgresLoginStore(database.database),
      devices: new PostgresDeviceStore(database.database),
      findTool: (name) => changedTools.get(name) ?? findNativeTool(name),
      judgeCall: createCallJudge(openCommandJudge),
      signGrant: identity.signer.sign.bind(identity.signer),
      signWorkspaceGrant: identity.signWorkspaceGrant,
      approvalSeconds,
      fourEyes,
    }),
    services: [
      PolicyService.typeName,
      RunPolicyService.typeName,
      AuditService.typeName,
      TrustService.typeName,
      TokenService.typeName,
      TeamService.typeName,
      MemberService.typeName,
      DeviceService.typeName,
    ],
    forServices: [RunAnswersService.typeName, TokenResolverService.typeName, TeamResolverService.typeName, LoginService.typeName],
    authenticate: identity.verifier("policy"),
  });
  const url = `http://127.0.0.1:${server.port}`;
  const transport = createMeshTransport(url);
  return {
    url,
    policy: createClient(PolicyService, transport),
    audit: createClient(AuditService, transport),
    answers: createClient(RunAnswersService, transport),
    as: (principal) => bearing(identity.minter.mint(principal, "policy")),
    asOrchestrator: () => bearing(identity.runMinter.mintOwn("policy")),
    asEdge: () => bearing(identity.minter.mintOwn("policy")),
    forRun: (run) => bearing(identity.mintForRun(run, "policy")),
    forWorker: (run, narrowing) =>
      bearing(identity.runMinter.mint(run.principal, "policy", identity.narrow(identity.delegate(run), narrowing))),
    gate: identity.gate,
    identity,
    database,
    changedTools,
    close: async () => {
      await server.close();
      await notifications.close();
      await database.drop();
    },
  };
}

function bearing(token: string): CallOptions {
  return { headers: { authorization: `Bearer ${token}` } };
}

/** A database that the test itself made, and can take away. */
async function useDatabase(url: string): Promise<TestDatabase> {
  const database = new Database(url, testLog);
  await migrate(database, MIGRATIONS);
  return { database, url, drop: () => database.close() };
}
