import { once, EventEmitter } from "node:events";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hashAccessToken, newAccessToken } from "@hlvm/identity/access-token";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { TokenResolverService, TokenScope, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { callContext, demandService } from "@hlvm/rpc/call-context";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { meshWith } from "../testing/mesh-with.ts";

const { READ, RUN, APPROVE } = TokenScope;
const RECHECK_MILLISECONDS = 10_000;

/** A mesh whose policy knows these tokens, and in which every method says who called it. */
async function meshKnowing(tokens: Map<string, TokenScope[]>) {
  const asked: string[] = [];
  /** Whose owner is no developer any more. */
  const lost = new Set<string>();
  const called: string[] = [];
  const watched = new EventEmitter();
  const mesh = await meshWith((router) => {
    router.service(TokenResolverService, {
      resolveToken: ({ sha256 }, context) => {
        demandService(context, "edge");
        asked.push(sha256);
        const scopes = tokens.get(sha256);
        if (scopes === undefined) throw new ConnectError("no such token", Code.NotFound);
        if (scopes.length === 0) throw new ConnectError("the database is away", Code.Unavailable);
        return { organization: "acme", principal: "user:bot", roles: lost.has(sha256) ? ["approver"] : ["developer"], scopes };
      },
    });
    router.service(TokenService, { createToken: () => ({ secret: "made" }), listTokens: () => ({}) });
    router.service(PolicyService, { listApprovals: () => ({}), answerApproval: () => ({}) });
    router.service(SessionService, {
      listSessions: (_, context) => {
        const { principal } = callContext(context);
        called.push(`${principal.organization} ${principal.id} ${principal.roles.join()}`);
        return {};
      },
      async *watch(_, context) {
        yield {};
        watched.emit("watching");
        if (!context.signal.aborted) await once(context.signal, "abort");
        watched.emit("over");
      },
    });
  });
  const transport = (token: string): Transport =>
    createMeshTransport(mesh.url, [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${token}`);
        return next(request);
      },
    ]);
  return { asked, called, lost, watched, transport };
}

function tokenWith(...scopes: TokenScope[]) {
  const token = newAccessToken();
  return { token, tokens: new Map([[hashAccessToken(token), scopes]]) };
}

const reasonOf = async (call: Promise<unknown>): Promise<string> => {
  const error = ConnectError.from(
    await call.then(
      () => "it was let through",
      (thrown: unknown) => thrown,
    ),
  );
  return `${Code[error.code]}: ${error.rawMessage}`;
};

afterEach(() => {
  vi.useRealTimers();
});

describe("access tokens at the edge", () => {
  it("call as their owner, whom policy is asked for once in a second", async () => {
    const { token, tokens } = tokenWith(READ);
    const { asked, called, transport } = await meshKnowing(tokens);
    const sessions = createClient(SessionService, transport(token));
    await Promise.all([1, 2, 3].map(() => sessions.listSessions({})));
    expect(called).toEqual(Array.from({ length: 3 }, () => "acme user:bot developer"));
    expect(asked).toEqual([hashAccessToken(token)]);
  });

  it("do what their scopes say and nothing else; no scope makes a token", async () => {
    const { token, tokens } = tokenWith(READ);
    const run = newAccessToken();
    const approve = newAccessToken();
    tokens.set(hashAccessToken(run), [RUN]).set(hashAccessToken(approve), [APPROVE]);
    const { transport } = await meshKnowing(tokens);
    await createClient(SessionService, transport(run)).listSessions({});
    await createClient(PolicyService, transport(approve)).answerApproval({
      approvalId: crypto.randomUUID(),
      answer: 3,
      argumentsHash: "a".repeat(64),
    });
    const ask = (secret: string) => reasonOf(createClient(SessionService, transport(secret)).startRun({ prompt: "x" }));
    const make = (secret: string) => reasonOf(createClient(TokenService, transport(secret)).createToken({ label: "x", scopes: [READ] }));
    const [started, made] = await Promise.all([ask(token), make(token)]);
    expect(started).toMatch(/^PermissionDenied: .*StartRun takes a token with the scope run; this one has read/);
    expect(made).toMatch(/^PermissionDenied: .*in person/);
    expect(await make(run)).toMatch(/in person/);
    expect(await ask(approve)).toMatch(/the scope run; this one has approve/);
    expect(await reasonOf(createClient(SessionService, transport(approve)).listSessions({}))).toMatch(/read or run/);
  });

  it("are refused where nobody knows them or they are none, of which policy is not even asked; and where nobody can tell", async () => {
    const { token, tokens } = tokenWith();
    const { asked, transport } = await meshKnowing(tokens);
    const list = (secret: string) => reasonOf(createClient(SessionService, transport(secret)).listSessions({}));
    expect(await list(newAccessToken())).toMatch(/^Unauthenticated: .*revoked/);
    expect(asked).toHaveLength(1);
    expect(await list(`${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`)).toMatch(/^Unauthenticated: .*wrong token/);
    expect(asked).toHaveLength(1);
    expect(await list(token)).toMatch(/^Unavailable: Nobody can tell now/);
  });

  it("end the streams that were opened with them once they are revoked", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    const { token, tokens } = tokenWith(READ);
    const { watched, transport } = await meshKnowing(tokens);
    const isWatching = once(watched, "watching");
    const isOver = once(watched, "over");
    const watching = (async () => {
      for await (const _ of createClient(SessionService, transport(token)).watch({ sessionId: crypto.randomUUID() }));
    })();
    const end = reasonOf(watching);
    await isWatching;
    await vi.advanceTimersByTimeAsync(RECHECK_MILLISECONDS);
    tokens.clear();
    await vi.advanceTimersByTimeAsync(RECHECK_MILLISECONDS);
    expect(await end).toMatch(/^Unauthenticated: .*revoked/);
    await isOver;
  });

  it("end them, too, once their owner has lost a role: what they show was chosen by it", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    const { token, tokens } = tokenWith(READ);
    const { lost, watched, transport } = await meshKnowing(tokens);
    const [isWatching, isOver] = [once(watched, "watching"), once(watched, "over")];
    const watching = (async () => {
      for await (const _ of createClient(SessionService, transport(token)).watch({ sessionId: crypto.randomUUID() }));
    })();
    const end = reasonOf(watching);
    await isWatching;
    lost.add(hashAccessToken(token));
    await vi.advanceTimersByTimeAsync(RECHECK_MILLISECONDS);
    expect(await end).toMatch(/^Unauthenticated: You have other roles than before/);
    await isOver;
  });
});
