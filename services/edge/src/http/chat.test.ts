import { EventEmitter, once } from "node:events";
import { request } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, type EventSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import {
  WatchResponseSchema,
  type CancelRunRequest,
  type StartRunRequest,
  type WatchRequest,
  type WatchResponse,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { meshWithSessions } from "../testing/mesh-with-sessions.ts";
import { AUTHORIZATION, type TestMesh } from "../testing/test-mesh.ts";

const SESSION = "7b1f6f0e-0d58-4d4e-9d0a-000000000001";
const RUN = "7b1f6f0e-0d58-4d4e-9d0a-000000000002";
const OTHER_RUN = "7b1f6f0e-0d58-4d4e-9d0a-000000000003";
const ASK = { messages: [{ role: "user", content: "Why?" }], workspace: "/tmp" };

type Payload = MessageInitShape<typeof EventSchema>["payload"];

function event(sequence: number, payload: Payload, runId = RUN): WatchResponse {
  return create(WatchResponseSchema, { events: [{ sessionId: SESSION, runId, sequence: BigInt(sequence), payload }] });
}

const delta = (text: string): Payload => ({ case: "messageDelta", value: { text } });
const completed: Payload = { case: "runStopped", value: { reason: StopReason.COMPLETED, text: "Because.", turns: 1 } };

/** An orchestrator with one run, whose events `watch` gives. */
class TestRun {
  readonly started: StartRunRequest[] = [];
  readonly watched: WatchRequest[] = [];
  readonly cancelled: CancelRunRequest[] = [];
  readonly happened = new EventEmitter();

  start(watch: (request: WatchRequest, signal: AbortSignal) => AsyncIterable<WatchResponse>): Promise<TestMesh> {
    return meshWithSessions({
      startRun: (started) => {
        this.started.push(started);
        return { sessionId: SESSION, runId: RUN, sequence: 5n };
      },
      watch: (watched, context) => {
        this.watched.push(watched);
        return watch(watched, context.signal);
      },
      cancelRun: (cancelled) => {
        this.cancelled.push(cancelled);
        this.happened.emit("cancelled");
        return { cancelled: true };
      },
    });
  }
}

function post(to: TestMesh, body: unknown): Promise<Response> {
  return fetch(`${to.url}/api/chat`, {
    method: "POST",
    headers: AUTHORIZATION,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function lines(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("POST /api/chat", () => {
  it("makes the run and its watch part of its caller's trace", async () => {
    const traces: string[] = [];
    const to = await meshWithSessions({
      startRun: (_, context) => {
        traces.push(callContext(context).traceId);
        return { sessionId: SESSION, runId: RUN, sequence: 5n };
      },
      async *watch(_, context) {
        traces.push(callContext(context).traceId);
        yield event(5, completed);
      },
    });
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const headers = { ...AUTHORIZATION, traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    await (await fetch(`${to.url}/api/chat`, { method: "POST", headers, body: JSON.stringify(ASK) })).text();
    expect(traces).toEqual([traceId, traceId]);
  });

  it("starts a run of the last user message, and streams its lines up to the final one", async () => {
    const run = new TestRun();
    const to = await run.start(async function* () {
      yield event(5, { case: "userMessage", value: { text: "Why?" } });
      yield event(6, delta("of another run"), OTHER_RUN);
      yield event(7, delta("Be"));
      yield event(8, delta("cause."));
      yield event(9, completed);
      yield event(10, delta("of the next run"));
    });
    const messages = [
      { role: "user", content: "What?" },
      { role: "assistant", content: "That." },
      { role: "user", content: "Why?" },
    ];
    const response = await post(to, {
      ...ASK,
      messages,
      model: "demo/rules",
      allowed_tools: ["read_file"],
      disallowed_tools: ["git_*"],
      stateless: true,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(await lines(response)).toMatchObject([
      { type: "agent_event", event: { type: "user_message", sequence: 5, run_id: RUN } },
      { type: "token", text: "Be" },
      { type: "token", text: "cause." },
      { type: "final", session_id: SESSION, run_id: RUN, stop_reason: "completed", text: "Because." },
    ]);
    expect(run.started).toMatchObject([
      {
        prompt: "Why?",
        model: "demo/rules",
        workspace: "/tmp",
        sessionId: "",
        stateless: true,
        settings: { mode: PermissionMode.DONT_ASK, canAsk: false, allowedTools: ["read_file"], disallowedTools: ["git_*"] },
      },
    ]);
    expect(run.watched).toMatchObject([{ sessionId: SESSION, fromSequence: 5n, follow: true }]);
    expect(run.cancelled).toEqual([]);
  });

  it("lets a run ask only in the modes in which somebody answers", async () => {
    const run = new TestRun();
    const to = await run.start(async function* () {
      yield event(5, completed);
    });
    for (const mode of ["default", "plan", "acceptEdits", "bypassPermissions", "dontAsk"])
      await lines(await post(to, { ...ASK, permission_mode: mode }));
    expect(run.started.map(({ settings }) => [settings?.mode, settings?.canAsk])).toEqual([
      [PermissionMode.DEFAULT, true],
      [PermissionMode.PLAN, true],
      [PermissionMode.ACCEPT_EDITS, false],
      [PermissionMode.BYPASS_PERMISSIONS, false],
      [PermissionMode.DONT_ASK, false],
    ]);
  });

  it.each([
    ["no JSON", "{", "not JSON"],
    ["no object", "[]", "not an object"],
    ["no messages", {}, "`workspace` is missing"],
    ["messages that are no list", { ...ASK, messages: "Why?" }, "not a list"],
    ["no question", { ...ASK, messages: [{ role: "assistant", content: "Hm." }] }, "no question"],
    ["an empty question", { ...ASK, messages: [{ role: "user", content: " \n" }] }, "no question"],
    ["an unknown role", { ...ASK, messages: [{ role: "root", content: "x" }] }, "role"],
    ["content that is no text", { ...ASK, messages: [{ role: "user", content: 1 }] }, "content"],
    ["a relative workspace", { ...ASK, workspace: "here" }, "absolute"],
    ["an unknown mode", { ...ASK, permission_mode: "yolo" }, "yolo"],
    ["tools that are no list", { ...ASK, allowed_tools: "read_file" }, "allowed_tools"],
    ["a flag that is none", { ...ASK, stateless: "yes" }, "stateless"],
    ["an unknown field", { ...ASK, temperature: 1 }, "temperature"],
  ])("refuses %s, says what is wrong, and starts nothing", async (_, body, message) => {
    const run = new TestRun();
    const to = await run.start(async function* () {});
    const response = await post(to, body);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string; advice: string } };
    expect(error.message).toContain(message);
    expect(error.advice).not.toBe("");
    expect(run.started).toEqual([]);
  });

  it("refuses a body of more than 2 MiB, and one that is not UTF-8", async () => {
    const run = new TestRun();
    const to = await run.start(async function* () {});
    const large = await post(to, { ...ASK, messages: [{ role: "user", content: "x".repeat(2 * 1024 * 1024) }] });
    expect([large.status, await large.json()]).toMatchObject([400, { error: { reason: "body_too_large" } }]);
    const broken = await fetch(`${to.url}/api/chat`, { method: "POST", headers: AUTHORIZATION, body: Uint8Array.of(0x22, 0xff, 0x22) });
    expect([broken.status, await broken.json()]).toMatchObject([400, { error: { reason: "body_not_utf8" } }]);
  });

  it("passes on why a run could not be started", async () => {
    const mesh = await meshWithSessions({
      startRun: () => {
        throw new HlvmError({
          code: "not_found",
          reason: "model_not_found",
          message: "There is no model x/y.",
          advice: "`hlvm model list` names them.",
        });
      },
    });
    const response = await post(mesh, ASK);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { reason: "model_not_found", message: "There is no model x/y.", advice: "`hlvm model list` names them." } },
    ]);
  });

  it("goes on behind the last event when the watch is cut", async () => {
    const run = new TestRun();
    const to = await run.start(async function* ({ fromSequence }) {
      if (fromSequence === 5n) {
        yield event(5, delta("Be"));
        throw new HlvmError({ code: "unavailable", reason: "restarting", message: "Restarting." });
      }
      yield event(6, delta("cause."));
      yield event(7, completed);
    });
    expect(await lines(await post(to, ASK))).toMatchObject([{ text: "Be" }, { text: "cause." }, { type: "final" }]);
    expect(run.watched.map(({ fromSequence }) => fromSequence)).toEqual([5n, 6n]);
  });

  it("ends with a final line that says what happened when the run cannot be watched any more", async () => {
    const run = new TestRun();
    const to = await run.start(async function* () {
      yield event(5, delta("Be"));
      throw new HlvmError({
        code: "permission_denied",
        reason: "not_yours",
        message: "The session is not yours.",
        advice: "Ask its owner.",
      });
    });
    expect(await lines(await post(to, ASK))).toMatchObject([
      { text: "Be" },
      {
        type: "final",
        session_id: SESSION,
        run_id: RUN,
        stop_reason: "error",
        message: "The session is not yours.",
        advice: "Ask its owner.",
      },
    ]);
    expect(run.cancelled).toMatchObject([{ runId: RUN }]);
  });

  it("cancels the run when the client goes away", async () => {
    const run = new TestRun();
    const to = await run.start(async function* (_, signal) {
      yield event(5, delta("Be"));
      await once(signal, "abort");
    });
    const controller = new AbortController();
    const cancelled = once(run.happened, "cancelled");
    const response = await fetch(`${to.url}/api/chat`, {
      method: "POST",
      headers: AUTHORIZATION,
      body: JSON.stringify(ASK),
      signal: controller.signal,
    });
    await response.body!.getReader().read();
    controller.abort();
    await cancelled;
    expect(run.cancelled).toMatchObject([{ sessionId: SESSION, runId: RUN }]);
  });

  it("reads no faster than its client", async () => {
    let given = 0;
    const run = new TestRun();
    const to = await run.start(async function* () {
      for (; given < 4_000; given++) yield event(5 + given, delta("x".repeat(16_384)));
      yield event(5 + given, completed);
    });
    const client = request(`${to.url}/api/chat`, { method: "POST", headers: AUTHORIZATION });
    client.end(JSON.stringify(ASK));
    const [response] = await once(client, "response");
    response.pause();
    // Client, edge and orchestrator are in this process: when nothing moves for so many turns of its loop, all of them wait.
    let before = -1;
    for (let quietTurns = 0; quietTurns < 2_000; quietTurns = before === given ? quietTurns + 1 : 0) {
      before = given;
      await nextTurn();
    }
    expect(given).toBeLessThan(2_000);
    response.resume();
    await once(response, "end");
    expect(given).toBe(4_000);
  });
});
