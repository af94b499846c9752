import { createHash, randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { hashAccessToken } from "@hlvm/identity/access-token";
import type { Principal } from "@hlvm/identity/principal";
import { Database } from "@hlvm/postgres/database";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { CredentialKind, DeviceService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { testLogins } from "../testing/log-in.ts";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";

const auditor: Principal = { organization: "acme", id: "user:audit", roles: ["security-auditor"] };
const VERIFIER = "a".repeat(43);
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");
const receiver = { port: 4_000, state: "s".repeat(16), codeChallenge: CHALLENGE, label: "laptop" };

let policy: TestPolicy;
let logins: ReturnType<typeof testLogins>;
beforeAll(async () => {
  policy = await startTestPolicy();
  logins = testLogins(policy);
});
afterAll(() => policy.close());

const events = async (kind: AuditKind, text = "") => (await policy.audit.query({ kind, text }, policy.as(auditor))).events;
const begin = async () => {
  const [state, browser] = [randomUUID(), randomUUID()].map(hashAccessToken) as [string, string];
  const attempt = { organization: "acme", stateSha256: state, browserSha256: browser, nonce: "n".repeat(16), codeVerifier: VERIFIER };
  await logins.client.beginLogin({ ...attempt, returnTo: "/audit", receiver }, policy.asEdge());
  return { state, browser };
};
const take = (state: string, browser: string) => logins.client.takeLogin({ stateSha256: state, browserSha256: browser }, policy.asEdge());
const pair = () => {
  const [access, refresh] = [randomUUID(), randomUUID()];
  return { access, refresh, accessSha256: hashAccessToken(access), refreshSha256: hashAccessToken(refresh) };
};
const redeem = (code: string, codeChallenge = CHALLENGE, next = pair()) =>
  logins.client
    .redeemCode({ codeSha256: hashAccessToken(code), codeChallenge, ...next }, policy.asEdge())
    .then((answer) => ({ ...answer, ...next }));
const refresh = (token: string, next = pair()) =>
  logins.client
    .refreshCredential(
      { refreshSha256: hashAccessToken(token), nextAccessSha256: next.accessSha256, nextRefreshSha256: next.refreshSha256 },
      policy.asEdge(),
    )
    .then((answer) => ({ ...answer, ...next }));
const resolveCommand = (secret: string) => logins.resolve(secret, CredentialKind.CLI);

async function asDatabaseOwner(sql: string): Promise<void> {
  const name = /test_[0-9a-f]+/.exec(policy.database.url)![0];
  const database = new Database(inject("postgresUrl").replace("@/postgres?", `@/${name}?`), testLog);
  try {
    await database.query(sql);
  } finally {
    await database.close();
  }
}

describe("logins", () => {
  it("are finished once, by the browser that began them, within ten minutes", async () => {
    const { state, browser } = await begin();
    await expect(take(state, hashAccessToken("another browser"))).rejects.toThrow(/began no such login/);
    expect(await take(state, browser)).toMatchObject({ returnTo: "/audit", receiver: { port: 4_000 } });
    await expect(take(state, browser)).rejects.toThrow(/finished already/);
    const old = await begin();
    await asDatabaseOwner("UPDATE identity.login_attempt SET begun_at = now() - interval '11 minutes'");
    await expect(take(old.state, old.browser)).rejects.toThrow(/more than ten minutes/);
  });

  it("let a browser in until it logs out, is idle for too long, or a day is over; all of it on record", async () => {
    const { principal, secret } = await logins.finish({ subject: "ada" });
    expect(await logins.resolve(secret)).toMatchObject({ organization: "acme", principal });
    await expect(resolveCommand(secret)).rejects.toThrow(/over/);
    const stays = await logins.finish({ subject: "ada" });
    await logins.client.revokeCredential({ sha256: hashAccessToken(secret) }, policy.asEdge());
    await expect(logins.resolve(secret)).rejects.toThrow(/over/);
    expect((await logins.resolve(stays.secret)).principal).toBe(principal);
    await asDatabaseOwner("UPDATE identity.credential SET last_used_at = now() - interval '9 hours'");
    await expect(logins.resolve(stays.secret)).rejects.toThrow(/over/);
    const day = await logins.finish({ subject: "ada" });
    await asDatabaseOwner("UPDATE identity.credential SET expires_at = now()");
    await expect(logins.resolve(day.secret)).rejects.toThrow(/over/);
    expect((await events(AuditKind.MEMBER_LOGGED_IN)).map((event) => event.principal)).toEqual(Array(3).fill(principal));
    expect(await events(AuditKind.MEMBER_LOGGED_OUT)).toHaveLength(1);
    const rows = await policy.database.database.query<{ row: string }>("SELECT c::text AS row FROM identity.credential c");
    expect(rows.filter(({ row }) => row.includes(secret))).toEqual([]);
  });

  it("of commands are swapped for their code once, by who has the verifier", async () => {
    const { secret: code } = await logins.finish({ subject: "bo", receiver });
    await expect(redeem(code, "x".repeat(43))).rejects.toThrow(/finished already/);
    await expect(redeem(code)).rejects.toThrow(/finished already/);
    const { access, principal } = await redeem((await logins.finish({ subject: "bo", receiver })).secret);
    expect((await resolveCommand(access)).principal).toBe(principal);
    await expect(logins.resolve(access)).rejects.toThrow(/over/);
  });

  it("end everywhere when a refresh token comes twice", async () => {
    const first = await redeem((await logins.finish({ subject: "cy", receiver })).secret);
    const second = await refresh(first.refresh);
    await resolveCommand(second.access);
    await expect(refresh(first.refresh)).rejects.toThrow(/ended everywhere/);
    for (const access of [first.access, second.access]) await expect(resolveCommand(access)).rejects.toThrow(/over/);
    await expect(refresh(second.refresh)).rejects.toThrow(/is over/);
    expect(await events(AuditKind.CREDENTIAL_REUSED)).toHaveLength(1);
  });

  it("of devices wait for the one who types the code, whose fifth wrong code is the last", async () => {
    const { principal } = await logins.finish({ subject: "di" });
    const guesser = await logins.finish({ subject: "eve" });
    const device = hashAccessToken(randomUUID());
    const started = { organization: "acme", deviceSha256: device, label: "build host", address: "10.1.2.3" };
    const { userCode } = await logins.client.beginDevice(started, policy.asEdge());
    expect(userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
    const next = pair();
    const ask = () => logins.client.redeemDevice({ deviceSha256: device, ...next }, policy.asEdge());
    expect((await ask()).principal).toBe("");
    await expect(ask()).rejects.toThrow(/five seconds/);
    const devices = createClient(DeviceService, createMeshTransport(policy.url));
    const as = (id: string) => policy.as({ organization: "acme", id, roles: [] });
    const guesses = ["BBBBBBBB", "CCCCCCCC", "DDDDDDDD", "FFFFFFFF", "GGGGGGGG"].map((guess) =>
      devices.findDevice({ userCode: guess }, as(guesser.principal)).catch(String),
    );
    expect((await Promise.all(guesses)).filter((answer) => String(answer).includes("No command waits"))).toHaveLength(5);
    await expect(devices.answerDevice({ userCode, allow: true }, as(guesser.principal))).rejects.toThrow(/five|5 codes/);
    const otherOrganization = policy.as({ organization: "other", id: principal, roles: [] });
    await expect(devices.findDevice({ userCode }, otherOrganization)).rejects.toThrow(/No command waits/);
    const typed = `${userCode.slice(0, 4)}-${userCode.slice(4)}`.toLowerCase();
    expect(await devices.findDevice({ userCode: typed }, as(principal))).toMatchObject({ label: "build host", address: "10.1.2.3" });
    await devices.answerDevice({ userCode: typed, allow: true }, as(principal));
    await expect(devices.answerDevice({ userCode, allow: false }, as(principal))).rejects.toThrow(/No command waits/);
    await asDatabaseOwner("UPDATE identity.device_attempt SET polled_at = NULL");
    expect((await ask()).principal).toBe(principal);
    expect((await resolveCommand(next.access)).principal).toBe(principal);
    await expect(ask()).rejects.toThrow(/used already/);
    expect(await events(AuditKind.DEVICE_ANSWERED, "build host")).toHaveLength(1);
  });

  it("are for the edge alone", async () => {
    const anybody = policy.as({ organization: "acme", id: "user:ada", roles: ["admin"] });
    const sha256 = hashAccessToken("x");
    await expect(logins.client.resolveCredential({ sha256, kind: CredentialKind.CLI }, anybody)).rejects.toThrow();
    await expect(logins.client.resolveCredential({ sha256, kind: CredentialKind.CLI }, policy.asOrchestrator())).rejects.toThrow(
      /Only the edge/,
    );
    await logins.client.failLogin({ organization: "acme", reason: "nonce_differs", subject: "" }, policy.asEdge());
    expect(await events(AuditKind.LOGIN_FAILED, "nonce_differs")).toHaveLength(1);
  });
});
