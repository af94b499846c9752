import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { hashAccessToken, isAccessToken } from "@hlvm/identity/access-token";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TokenResolverService, TokenScope, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { Database } from "@hlvm/postgres/database";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";

const ada: Principal = { organization: "acme", id: "user:ada", roles: ["developer", "approver", "security-auditor"] };
const ben: Principal = { organization: "acme", id: "user:ben", roles: ["developer"] };
const namesake: Principal = { organization: "other", id: "user:ada", roles: ["developer"] };
const { READ, RUN, APPROVE, AUDIT, ADMIN } = TokenScope;

let policy: TestPolicy;
beforeAll(async () => {
  policy = await startTestPolicy();
});
afterAll(() => policy.close());

const tokens = () => createClient(TokenService, createMeshTransport(policy.url));
const resolver = () => createClient(TokenResolverService, createMeshTransport(policy.url));
const make = (principal: Principal, scopes: TokenScope[], days = 0) =>
  tokens().createToken({ label: "nightly", scopes, days }, policy.as(principal));
const resolve = (secret: string) => resolver().resolveToken({ sha256: hashAccessToken(secret) }, policy.asEdge());

/** What no service may do. */
async function asDatabaseOwner(change: (database: Database) => Promise<unknown>): Promise<void> {
  const name = /test_[0-9a-f]+/.exec(policy.database.url)![0];
  const database = new Database(inject("postgresUrl").replace("@/postgres?", `@/${name}?`), testLog);
  try {
    await change(database);
  } finally {
    await database.close();
  }
}

describe("tokens", () => {
  it("prove their owner, with no roles but those that owner and scopes have in common", async () => {
    const { token, secret } = await make(ada, [RUN, APPROVE]);
    expect(isAccessToken(secret, "pat")).toBe(true);
    expect(await resolve(secret)).toMatchObject({
      tokenId: token!.tokenId,
      organization: "acme",
      principal: "user:ada",
      roles: ["developer", "approver"],
      scopes: [RUN, APPROVE],
    });
    expect((await resolve((await make(ada, [READ])).secret)).roles).toEqual(["developer"]);
    await expect(make(ben, [RUN, ADMIN])).rejects.toMatchObject({ message: expect.stringContaining("scope admin") });
  });

  it("of a service account are an administrator's to make, see and end, act as the account, and answer and administer nothing", async () => {
    const root: Principal = { organization: "acme", id: "user:root", roles: ["admin"] };
    const forNightly = (by: Principal, scopes: TokenScope[]) =>
      tokens().createToken({ label: "ci", scopes, serviceAccount: "nightly" }, policy.as(by));
    await expect(forNightly(ada, [READ])).rejects.toThrow(/takes the role admin/);
    for (const scope of [APPROVE, ADMIN]) await expect(forNightly(root, [READ, scope])).rejects.toThrow(/are for people/);
    const { token, secret } = await forNightly(root, [RUN, AUDIT]);
    expect([isAccessToken(secret, "svc"), isAccessToken(secret, "pat")]).toEqual([true, false]);
    expect(await resolve(secret)).toMatchObject({
      organization: "acme",
      principal: "account:nightly",
      roles: ["developer", "security-auditor"],
    });
    const accounts = async (by: Principal) => (await tokens().listTokens({ serviceAccounts: true }, policy.as(by))).tokens;
    expect(await accounts(root)).toMatchObject([{ owner: "account:nightly", label: "ci" }]);
    expect(await accounts({ ...root, organization: "other" })).toEqual([]);
    await expect(accounts(ada)).rejects.toThrow(/takes the role admin/);
    expect((await tokens().listTokens({}, policy.as(root))).tokens).toEqual([]);
    const revoke = (by: Principal) => tokens().revokeToken({ tokenId: token!.tokenId }, policy.as(by));
    for (const by of [ada, { ...root, organization: "other" }]) await expect(revoke(by)).rejects.toThrow(/You have no token/);
    await revoke({ ...root, id: "user:other-root" });
    await expect(resolve(secret)).rejects.toThrow(/is over/);
    const { events } = await policy.audit.query({ kind: AuditKind.TOKEN_CREATED, principal: "user:root" }, policy.as(ada));
    expect(events[0]!.argumentsJson).toContain('"owner":"account:nightly"');
  });

  it("hold for 90 days or as many as were asked for, and are kept as a hash", async () => {
    const days = async (given: number) => {
      const { token } = await make(ben, [READ], given);
      return Math.round((Number(token!.expiresAt!.seconds) - Number(token!.createdAt!.seconds)) / 86_400);
    };
    expect([await days(0), await days(1), await days(366)]).toEqual([90, 1, 366]);
    await expect(make(ben, [READ], 367)).rejects.toThrow();
    const { secret } = await make(ben, [READ]);
    const rows = await policy.database.database.query<{ row: string }>("SELECT token::text AS row FROM identity.token token");
    expect(rows.filter(({ row }) => row.includes(secret.slice(9, 40)))).toEqual([]);
    expect(rows.filter(({ row }) => row.includes(hashAccessToken(secret)))).toHaveLength(1);
  });

  it("are refused once they are revoked or over, and revoked by their owner alone", async () => {
    const { token, secret } = await make(ada, [READ]);
    const { tokenId } = token!;
    for (const other of [ben, namesake]) {
      await expect(tokens().revokeToken({ tokenId }, policy.as(other))).rejects.toMatchObject({
        message: expect.stringContaining("no token"),
      });
      expect((await tokens().listTokens({}, policy.as(other))).tokens.map((one) => one.tokenId)).not.toContain(tokenId);
    }
    await resolve(secret);
    const [listed] = (await tokens().listTokens({}, policy.as(ada))).tokens;
    expect(listed).toMatchObject({ tokenId, label: "nightly", lastUsedAt: { $typeName: "google.protobuf.Timestamp" } });
    const first = await tokens().revokeToken({ tokenId }, policy.as(ada));
    expect(first.token!.revokedAt).toBeDefined();
    expect((await tokens().revokeToken({ tokenId }, policy.as(ada))).token).toEqual(first.token);
    await expect(resolve(secret)).rejects.toMatchObject({ message: expect.stringContaining("is over") });
    const over = await make(ada, [READ]);
    const end = ["UPDATE identity.token SET expires_at = now() WHERE token_id = $1", [over.token!.tokenId]] as const;
    await expect(policy.database.database.query(...end)).rejects.toThrow(/permission denied/);
    await asDatabaseOwner((database) => database.query(...end));
    await expect(resolve(over.secret)).rejects.toMatchObject({ message: expect.stringContaining("is over") });
  });

  it("are made and revoked on record, once each, and never with what proves them", async () => {
    const { token, secret } = await make(ada, [AUDIT]);
    const { tokenId } = token!;
    for (const _ of [1, 2]) await tokens().revokeToken({ tokenId }, policy.as(ada));
    for (const kind of [AuditKind.TOKEN_CREATED, AuditKind.TOKEN_REVOKED]) {
      const { events } = await policy.audit.query({ kind }, policy.as(ada));
      const about = events.filter(({ argumentsJson }) => argumentsJson.includes(tokenId));
      expect(about).toMatchObject([{ principal: "user:ada" }]);
      expect(JSON.stringify(about, (_, value: unknown) => (typeof value === "bigint" ? "" : value))).not.toContain(secret);
    }
  });

  it("are made for no run, looked up by the edge alone, and at most a hundred for a person", async () => {
    const run = policy.forRun({ principal: ada });
    await expect(tokens().createToken({ label: "x", scopes: [READ] }, run)).rejects.toMatchObject({
      message: expect.stringContaining("Only a person"),
    });
    const { secret } = await make(ada, [READ]);
    const asked = { sha256: hashAccessToken(secret) };
    for (const options of [policy.as(ada), policy.asOrchestrator(), run])
      await expect(resolver().resolveToken(asked, options)).rejects.toThrow(/may call this|no token that policy accepts/);
    const many: Principal = { ...ben, id: "user:many" };
    for (let index = 0; index < 100; index++) await make(many, [READ]);
    await expect(make(many, [READ])).rejects.toMatchObject({ message: expect.stringContaining("100 tokens") });
    await expect(tokens().createToken({ label: "a\u001b[2J", scopes: [READ] }, policy.as(ada))).rejects.toThrow();
  });
});
