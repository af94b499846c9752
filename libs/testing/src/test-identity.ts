import { randomUUID } from "node:crypto";
import type { Enforcement } from "@hlvm/grant/grant";
import { GrantGate } from "@hlvm/grant/grant-gate";
import { GrantSigner } from "@hlvm/grant/grant-signer";
import { signWorkspaceGrant, type WorkspaceGrant } from "@hlvm/grant/workspace-grant";
import type { Delegation } from "@hlvm/identity/delegation";
import { DelegationNarrower, type Narrowing } from "@hlvm/identity/delegation-narrower";
import { DelegationSigner } from "@hlvm/identity/delegation-signer";
import type { Principal } from "@hlvm/identity/principal";
import { publicKeysOf } from "@hlvm/identity/public-keys";
import type { ServiceName } from "@hlvm/identity/service-name";
import { createSigningKey, signingKeyOf, type CurrentSigningKey, type JWK } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { PermissionMode, type PermissionSettings } from "@hlvm/proto/hlvm/policy/v1/policy_pb";

export const testPrincipal: Principal = {
  organization: "local",
  id: "user:test",
  roles: ["developer", "approver", "admin", "security-auditor"],
};

/** What policy lets an L2 call do. */
export const testEnforcement: Enforcement = {
  level: "L2",
  profile: "open",
  protectedPaths: [],
  network: "none",
  timeoutMilliseconds: 60_000,
};

/** A person's run: ids of its own and a mode that asks where nothing else is given. */
export interface TestRun {
  readonly principal: Principal;
  readonly sessionId?: string;
  readonly runId?: string;
  readonly settings?: Partial<PermissionSettings>;
}

export interface TestIdentity {
  /** The edge's: who a person is, for one service. */
  readonly minter: TokenMinter;
  readonly verifier: (service: ServiceName) => TokenVerifier;
  readonly signer: GrantSigner;
  readonly gate: () => GrantGate;
  readonly signWorkspaceGrant: (grant: Omit<WorkspaceGrant, "expiresAt">) => string;
  readonly delegations: DelegationSigner;
  /** The delegation of a run, as the edge signs it. */
  readonly delegate: (run: TestRun) => string;
  /** Narrows a delegation, as the orchestrator does. */
  readonly narrow: (delegation: string, narrowing: Narrowing) => string;
  /** The orchestrator's, which calls for runs. */
  readonly runMinter: TokenMinter;
  /** A token with which the orchestrator calls for a run. */
  readonly mintForRun: (run: TestRun, audience: ServiceName) => string;
  /** The public keys of edge and orchestrator, as services read them. */
  readonly tokenKeys: readonly JWK[];
  /** The public keys of policy. */
  readonly grantKeys: readonly JWK[];
}

/** A mesh's keys, made for the test: all signatures are real. */
export async function createTestIdentity(): Promise<TestIdentity> {
  const [edge, orchestrator, policy] = await Promise.all([newKey("edge"), newKey("orchestrator"), newKey("policy")]);
  const tokenKeys = [edge.publicJwk, orchestrator.publicJwk];
  const delegations = new DelegationSigner(edge.current);
  const runs = new TokenMinter(orchestrator.current);
  const narrower = new DelegationNarrower(orchestrator.current);
  const delegate = ({ principal, sessionId = randomUUID(), runId = randomUUID(), settings }: TestRun): string =>
    delegations.sign({ principal, sessionId, runId, settings: { ...usualSettings, ...settings } });
  return {
    minter: new TokenMinter(edge.current),
    verifier: (service) => new TokenVerifier(service, publicKeysOf(tokenKeys)),
    signer: new GrantSigner(policy.current),
    gate: () => new GrantGate(publicKeysOf([policy.publicJwk])),
    signWorkspaceGrant: (grant) => signWorkspaceGrant(grant, policy.current),
    delegations,
    delegate,
    narrow: (delegation, narrowing) => narrower.narrow(delegation, narrowing),
    runMinter: runs,
    mintForRun: (run, audience) => runs.mint(run.principal, audience, delegate(run)),
    tokenKeys,
    grantKeys: [policy.publicJwk],
  };
}

const usualSettings: Delegation["settings"] = {
  $typeName: "hlvm.policy.v1.PermissionSettings",
  mode: PermissionMode.DEFAULT,
  allowedTools: [],
  disallowedTools: [],
  canAsk: true,
};

async function newKey(service: ServiceName): Promise<{ readonly current: CurrentSigningKey; readonly publicJwk: JWK }> {
  const { privateJwk, publicJwk } = await createSigningKey(service);
  const key = signingKeyOf(privateJwk);
  return { current: () => key, publicJwk };
}
