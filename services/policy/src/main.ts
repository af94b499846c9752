import { join } from "node:path";
import { GrantSigner } from "@hlvm/grant/grant-signer";
import { signWorkspaceGrant } from "@hlvm/grant/workspace-grant";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { checkSchema } from "@hlvm/postgres/check-schema";
import { Database } from "@hlvm/postgres/database";
import { Notifications } from "@hlvm/postgres/notifications";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TeamResolverService, TeamService, TokenResolverService, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { DeviceService, LoginService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { MemberService } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunAnswersService, RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService } from "@hlvm/service/run-service";
import { Sweeper } from "@hlvm/service/sweeper";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { openCommandJudge } from "./adapters/parsers/open-command-judge.ts";
import { APPROVAL_CHANNEL, ApprovalNotices } from "./adapters/postgres/approval-notices.ts";
import { PostgresApprovalStore } from "./adapters/postgres/postgres-approval-store.ts";
import { PostgresAuditLog } from "./adapters/postgres/postgres-audit-log.ts";
import { PostgresAuditReports } from "./adapters/postgres/postgres-audit-reports.ts";
import { PostgresDeviceStore } from "./adapters/postgres/postgres-device-store.ts";
import { PostgresLoginStore } from "./adapters/postgres/postgres-login-store.ts";
import { PostgresMemberStore } from "./adapters/postgres/postgres-member-store.ts";
import { PostgresShareStore } from "./adapters/postgres/postgres-share-store.ts";
import { PostgresTeamStore } from "./adapters/postgres/postgres-team-store.ts";
import { PostgresTokenStore } from "./adapters/postgres/postgres-token-store.ts";
import { PostgresTrustStore } from "./adapters/postgres/postgres-trust-store.ts";
import { PostgresOpenCalls } from "./adapters/postgres/postgres-open-calls.ts";
import { readConfig } from "./config.ts";
import { closeOpenCalls } from "./domain/audit/close-open-calls.ts";
import type { FourEyes } from "./domain/authority/authority.ts";
import { createCallJudge } from "./domain/judge/create-call-judge.ts";
import { policyRoutes, type PolicyPorts } from "./rpc/routes.ts";

const MIGRATIONS = join(import.meta.dirname, "../migrations");
const FOUR_EYES: Readonly<Record<"no" | "L2" | "L1", FourEyes>> = {
  no: new Set(),
  L2: new Set(["L2"]),
  L1: new Set(["L1", "L2"]),
};
const SWEEP_MILLISECONDS = 60_000;

await runService("policy", async (log, environment) => {
  const config = readConfig(environment);
  const key = readSigningKey(config.grantSigningKey);
  const signer = new GrantSigner(key);
  const database = new Database(config.databaseUrl, log);
  await checkSchema(database, MIGRATIONS);
  const notifications = await Notifications.open(config.databaseUrl, APPROVAL_CHANNEL, log);

  const ports = {
    audit: new PostgresAuditLog(database),
    approvals: new PostgresApprovalStore(database, new ApprovalNotices(notifications)),
    reports: new PostgresAuditReports(database),
    trust: new PostgresTrustStore(database),
    tokens: new PostgresTokenStore(database),
    teams: new PostgresTeamStore(database),
    shares: new PostgresShareStore(database),
    members: new PostgresMemberStore(database),
    logins: new PostgresLoginStore(database),
    devices: new PostgresDeviceStore(database),
    findTool: findNativeTool,
    judgeCall: createCallJudge(openCommandJudge),
    signGrant: signer.sign.bind(signer),
    signWorkspaceGrant: (grant: Parameters<PolicyPorts["signWorkspaceGrant"]>[0]) => signWorkspaceGrant(grant, key),
    approvalSeconds: config.approvalSeconds,
    fourEyes: FOUR_EYES[config.fourEyes],
  };
  const server = await startRpcServer({
    host: config.host,
    port: config.port,
    limits: connectionLimits(config.connectionAgeSeconds),
    log,
    routes: policyRoutes(ports),
    services: [
      PolicyService,
      RunPolicyService,
      RunAnswersService,
      AuditService,
      TrustService,
      TokenService,
      TokenResolverService,
      TeamService,
      TeamResolverService,
      MemberService,
      LoginService,
      DeviceService,
    ].map(({ typeName }) => typeName),
    authenticate: new TokenVerifier("policy", readPublicKeys(config.tokenPublicKeys)),
    forServices: [RunAnswersService.typeName, TokenResolverService.typeName, TeamResolverService.typeName, LoginService.typeName],
  });
  const openCalls = new PostgresOpenCalls(database);
  const sweep = async (): Promise<void> => {
    await ports.logins.forget();
    const closed = await closeOpenCalls(openCalls);
    if (closed > 0) log.warn({ closed }, "calls whose outcome nobody told are on record as unknown");
  };
  const sweeper = new Sweeper(sweep, SWEEP_MILLISECONDS, log);
  return {
    port: server.port,
    close: async () => {
      await sweeper.close();
      await server.close();
      await notifications.close();
      await database.close();
    },
  };
});
