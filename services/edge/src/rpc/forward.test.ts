import { once, EventEmitter } from "node:events";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Client, type HandlerContext, type Transport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { Health } from "@hlvm/proto/grpc/health/v1/health_pb";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SandboxMovedSchema, SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { SessionService, WatchResponseSchema, type WatchResponse } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { WORKSPACE_GRANT_HEADER } from "@hlvm/grant/workspace-grant";
import { callContext, type CallContext } from "@hlvm/rpc/call-context";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { meshWith } from "../testing/mesh-with.ts";
import { meshWithSessions } from "../testing/mesh-with-sessions.ts";
import { AUTHORIZATION, TOKEN, type TestMesh } from "../testing/test-mesh.ts";

const SESSION = "7b1f6f0e-0d58-4d4e-9d0a-000000000001";

/** A client of the edge as the command line is one. */
function transport(to: TestMesh, token = TOKEN): Transport {
  return createMeshTransport(to.url, [
    (next) => (request) => {
      request.header.set("authorization", `Bearer ${token}`);
      return next(request);
    },
  ]);
}

const sessionsOf = (mesh: TestMesh): Client<typeof SessionService> => createClient(SessionService, transport(mesh));

function event(sequence: number): WatchResponse {
  return create(WatchResponseSchema, { events: [{ sessionId: SESSION, sequence: BigInt(sequence) }] });
}

async function failure(promise: Promise<unknown>): Promise<ConnectError> {
  const thrown = await promise.then(
    () => expect.unreachable("it should have failed"),
    (cause: unknown) => cause,
  );
  return ConnectError.from(thrown);
}

describe("forwarding", () => {
  it("hands a unary call on in the name of the local user, with trace and deadline", async () => {
    const seen: CallContext[] = [];
    const mesh = await meshWithSessions({
      listSessions: ({ limit }, context) => {
        seen.push(callContext(context));
        return { sessions: [{ sessionId: SESSION, title: `of ${limit}` }] };
      },
    });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { sessions } = await sessionsOf(mesh).listSessions({ limit: 3 }, { timeoutMs: 5_000, headers: { traceparent } });
    expect(sessions).toMatchObject([{ sessionId: SESSION, title: "of 3" }]);
    expect(seen[0]).toMatchObject({
      principal: { organization: "local", id: "user:ada", roles: ["developer", "approver", "admin", "security-auditor"] },
      traceId: "0af7651916cd43dd8448eb211c80319c",
    });
    const remaining = seen[0]?.remainingMilliseconds();
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(5_000);
  });

  it("passes an error on with its code, message, advice and reason", async () => {
    const mesh = await meshWithSessions({
      getSession: () => {
        throw new HlvmError({
          code: "not_found",
          reason: "session_not_found",
          message: "There is no such session.",
          advice: "List them.",
        });
      },
    });
    const error = await failure(sessionsOf(mesh).getSession({ sessionId: SESSION }));
    expect(error).toMatchObject({ code: Code.NotFound, rawMessage: "There is no such session." });
    expect(error.findDetails(ErrorAdviceSchema)).toMatchObject([{ reason: "session_not_found", advice: "List them." }]);
  });

  it("streams as the events come, and ends with an error of the service", async () => {
    const steps = new EventEmitter();
    const mesh = await meshWithSessions({
      watch: async function* () {
        yield event(1);
        await once(steps, "go on");
        yield event(2);
        throw new HlvmError({ code: "permission_denied", reason: "not_yours", message: "Not any more.", advice: "Ask." });
      },
    });
    const sequences: bigint[] = [];
    const reading = (async () => {
      for await (const response of sessionsOf(mesh).watch({ sessionId: SESSION })) {
        sequences.push(response.events[0]!.sequence);
        steps.emit("go on");
      }
    })();
    const error = await failure(reading);
    expect(sequences).toEqual([1n, 2n]);
    expect(error).toMatchObject({ code: Code.PermissionDenied, rawMessage: "Not any more." });
    expect(error.findDetails(ErrorAdviceSchema)).toMatchObject([{ reason: "not_yours" }]);
  });

  it("cancels a stream at the service when the client leaves", async () => {
    const cancelled = new EventEmitter();
    const mesh = await meshWithSessions({
      watch: async function* (_, context: HandlerContext) {
        context.signal.addEventListener("abort", () => cancelled.emit("yes"));
        yield event(1);
        await once(cancelled, "yes");
      },
    });
    const controller = new AbortController();
    const seen = once(cancelled, "yes");
    const reading = (async () => {
      for await (const response of sessionsOf(mesh).watch({ sessionId: SESSION }, { signal: controller.signal })) {
        expect(response.events[0]?.sequence).toBe(1n);
        controller.abort();
      }
    })();
    expect(await failure(reading)).toMatchObject({ code: Code.Canceled });
    await seen;
  });

  it("gives a stream no deadline where its client set none", async () => {
    const remaining: (number | undefined)[] = [];
    const mesh = await meshWithSessions({
      watch: async function* (_, context) {
        remaining.push(context.timeoutMs());
        yield event(1);
      },
    });
    const client = sessionsOf(mesh);
    for (const timeoutMs of [0, 60_000])
      for await (const response of client.watch({ sessionId: SESSION }, { timeoutMs })) expect(response.events[0]?.sequence).toBe(1n);
    expect(remaining).toEqual([undefined, expect.closeTo(60_000, -4)]);
  });

  it("cancels a unary call at the service when the client leaves", async () => {
    const steps = new EventEmitter();
    const reached = once(steps, "reached");
    const cancelled = once(steps, "cancelled");
    const mesh = await meshWithSessions({
      listSessions: async (_, context) => {
        steps.emit("reached");
        await once(context.signal, "abort");
        steps.emit("cancelled");
        return {};
      },
    });
    const controller = new AbortController();
    const call = failure(sessionsOf(mesh).listSessions({}, { signal: controller.signal }));
    await reached;
    controller.abort();
    expect(await call).toMatchObject({ code: Code.Canceled });
    await cancelled;
  });

  it("cancels a unary call at the service when its deadline passes", async () => {
    const cancelled = new EventEmitter();
    const seen = once(cancelled, "yes");
    const mesh = await meshWithSessions({
      listSessions: async (_, context) => {
        await once(context.signal, "abort");
        cancelled.emit("yes");
        return {};
      },
    });
    // Long enough for the call to arrive where the machine is busy.
    const error = await failure(sessionsOf(mesh).listSessions({}, { timeoutMs: 3_000 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
    await seen;
  });

  it("serves many watchers and unary calls beside them", async () => {
    const mesh = await meshWithSessions({
      listSessions: () => ({ sessions: [] }),
      watch: async function* (_, context) {
        yield event(1);
        await once(context.signal, "abort");
      },
    });
    const client = sessionsOf(mesh);
    const controller = new AbortController();
    const watchers = Array.from({ length: 120 }, () =>
      client.watch({ sessionId: SESSION }, { signal: controller.signal })[Symbol.asyncIterator](),
    );
    const first = await Promise.all(watchers.map((watcher) => watcher.next()));
    expect(first.every(({ value }) => value.events[0].sequence === 1n)).toBe(true);
    expect(await client.listSessions({})).toMatchObject({ sessions: [] });
    controller.abort();
    await Promise.allSettled(watchers.map((watcher) => watcher.next()));
  });

  it("goes to the replica of the sandbox service that holds the session", async () => {
    const asked: string[] = [];
    const mesh = await meshWith((router) => {
      router.service(SandboxService, {
        listProcesses: ({ sessionId }, { url }) => {
          asked.push(sessionId);
          if (asked.length > 1) return { processes: [{ processId: 7, command: "sleep 60" }] };
          const detail = { desc: SandboxMovedSchema, value: { address: new URL(url).origin, epoch: 1n } };
          throw new ConnectError("elsewhere", Code.FailedPrecondition, undefined, [detail]);
        },
      });
    });
    const sandbox = createClient(SandboxService, transport(mesh));
    expect(await sandbox.listProcesses({ sessionId: SESSION })).toMatchObject({ processes: [{ processId: 7 }] });
    expect(asked).toEqual([SESSION, SESSION]);
  });

  it("shows the sandbox what policy signed for who looks into another's session, and no header of theirs", async () => {
    const shown: (string | null)[] = [];
    const mesh = await meshWith((router) => {
      router.service(PolicyService, { grantWorkspace: ({ sessionId }) => ({ grant: sessionId === SESSION ? "signed" : "" }) });
      router.service(SandboxService, {
        getChanges: (_request, { requestHeader }) => {
          shown.push(requestHeader.get(WORKSPACE_GRANT_HEADER));
          return {};
        },
      });
    });
    const sandbox = createClient(SandboxService, transport(mesh));
    for (const sessionId of [SESSION, SESSION.replace("1", "2")])
      await sandbox.getChanges({ sessionId }, { headers: { [WORKSPACE_GRANT_HEADER]: "forged" } });
    expect(shown).toEqual(["signed", null]);
  });

  it("says which service cannot be reached, and what to do", async () => {
    const mesh = await meshWith(() => undefined);
    await mesh.closeBackends();
    const error = await failure(sessionsOf(mesh).listSessions({}));
    expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("orchestrator") });
    expect(error.findDetails(ErrorAdviceSchema)).toMatchObject([
      { reason: "service_unreachable", advice: expect.stringContaining("hlvm status") },
    ]);
  });
});

describe("the list of public methods", () => {
  it("is closed by default: methods of the mesh are refused, and never reach their service", async () => {
    let reached = 0;
    const mesh = await meshWith((router) => {
      router.service(PolicyService, { decide: () => (reached++, {}), awaitApproval: () => (reached++, {}) });
      router.service(AuditService, { recordOutcome: () => (reached++, {}) });
      router.service(ModelService, {
        generate: async function* () {
          reached++;
          yield { event: { case: "textDelta", value: "" } };
        },
      });
    });
    const policy = createClient(PolicyService, transport(mesh));
    const audit = createClient(AuditService, transport(mesh));
    const models = createClient(ModelService, transport(mesh));
    const refused = await Promise.all([
      failure(
        policy.decide({
          call: { sessionId: SESSION, runId: SESSION, callId: "1", tool: "x", argumentsJson: "{}", definitionHash: "0".repeat(64) },
          settings: { mode: 1 },
        }),
      ),
      failure(policy.awaitApproval({ approvalId: SESSION })),
      failure(audit.recordOutcome({ sessionId: SESSION, runId: SESSION, callId: "1", status: 1 })),
      failure(
        models
          .generate({ model: "a/b", messages: [{ role: 2 }] })
          [Symbol.asyncIterator]()
          .next(),
      ),
    ]);
    expect(refused.map(({ code }) => code)).toEqual(Array(4).fill(Code.Unimplemented));
    expect(refused[0]?.findDetails(ErrorAdviceSchema)).toMatchObject([{ reason: "method_not_public" }]);
    expect(reached).toBe(0);
  });
});

describe("the token", () => {
  it("is demanded of every call, health checks included", async () => {
    let reached = 0;
    const mesh = await meshWithSessions({ listSessions: () => (reached++, {}) });
    const stranger = transport(mesh, `${TOKEN.slice(0, -1)}0`);
    expect(await failure(createClient(SessionService, stranger).listSessions({}))).toMatchObject({
      code: Code.Unauthenticated,
      rawMessage: "The request carries a wrong token.",
    });
    expect(await failure(createClient(Health, stranger).check({}))).toMatchObject({ code: Code.Unauthenticated });
    expect(
      await failure(createClient(SessionService, stranger).watch({ sessionId: SESSION })[Symbol.asyncIterator]().next()),
    ).toMatchObject({ code: Code.Unauthenticated });
    expect(reached).toBe(0);
  });

  it("opens health checks, of the edge and of what it forwards", async () => {
    const mesh = await meshWith(() => undefined);
    const health = createClient(Health, transport(mesh));
    expect(await health.check({})).toMatchObject({ status: 1 });
    expect(await health.check({ service: SessionService.typeName })).toMatchObject({ status: 1 });
    const response = await fetch(`${mesh.url}/grpc.health.v1.Health/Check`, {
      method: "POST",
      headers: { ...AUTHORIZATION, "content-type": "application/json" },
      body: "{}",
    });
    expect(await response.json()).toEqual({ status: "SERVING" });
  });
});
