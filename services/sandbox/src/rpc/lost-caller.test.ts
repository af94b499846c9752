import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import {
  ExecuteRequestSchema,
  GetReceiptResponse_State as State,
  SandboxService,
  type StreamCallsRequest,
  type StreamCallsResponse,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { CallStream } from "@hlvm/call-stream/call-stream";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { describe, expect, it } from "vitest";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();
const RUN = "00000000-0000-4000-8000-000000000001";
type Response = StreamCallsResponse["response"];
/** Writes a line when it begins, and another one when the file `go` is there. */
const COMMAND = "echo begun >> lines; echo begun; while [ ! -e go ]; do sleep 0.01; done; echo ended >> lines; echo ended";

/** A caller with a connection of its own that has begun the command, over the stream that runs use. */
async function begin(sessionId: string, workspace: string) {
  const given = { command: COMMAND };
  const grant = service.sign({ principal: testPrincipal, sessionId, runId: RUN, callId: "c", tool: "shell_exec", given });
  const hash = definitionHash(findNativeTool("shell_exec")!);
  const call = { sessionId, runId: RUN, callId: "c", tool: "shell_exec", argumentsJson: JSON.stringify(given), definitionHash: hash };
  const connection = new Http2SessionManager(service.url);
  const transport = createConnectTransport({ baseUrl: service.url, httpVersion: "2", sessionManager: connection });
  const { headers } = await service.headersOf(testPrincipal);
  const token = new Headers(headers).get("authorization")!.replace("Bearer ", "");
  const client = createClient(SandboxService, transport);
  const calls = new CallStream<StreamCallsRequest["request"], Response>(SandboxService.method.streamCalls, (requests, _, signal) =>
    client.streamCalls(requests, { headers, signal, timeoutMs: 0 }),
  );
  const cancel = new AbortController();
  const request = { case: "execute" as const, value: create(ExecuteRequestSchema, { call, grant }) };
  const limits = { token, timeoutMilliseconds: 60_000, signal: cancel.signal };
  const isLast = (response: Response): boolean => response.case === "execute" && response.value.event.case === "result";
  const ended = (async () => {
    for await (const _ of calls.call(request, limits, isLast));
  })();
  ended.catch(() => undefined);
  await expect.poll(() => existsSync(join(workspace, "lines"))).toBe(true);
  return { connection, cancel, ended, again: { sessionId, runId: RUN, callId: "c", tool: "shell_exec", given } };
}

describe("a call on the stream of a run", () => {
  it("goes on when its caller's connection is lost, and whoever sends it again gets its end", async () => {
    const { sessionId, workspace } = await service.open();
    const { connection, ended, again } = await begin(sessionId, workspace);
    connection.abort(new Error("killed"));
    await expect(ended).rejects.toThrow();
    expect((await service.receipt(sessionId, "c")).state).toBe(State.RUNNING);
    const joined = service.execute(again);
    writeFileSync(join(workspace, "go"), "");
    expect(await joined).toMatchObject({ success: true, content: "begun\nended\n" });
    expect(readFileSync(join(workspace, "lines"), "utf8")).toBe("begun\nended\n");
  });

  it("ends when its caller cancels it", async () => {
    const { sessionId, workspace } = await service.open();
    const { cancel, ended } = await begin(sessionId, workspace);
    cancel.abort();
    await expect(ended).rejects.toThrow();
    await expect.poll(async () => (await service.receipt(sessionId, "c")).result?.errorCode).toBe("cancelled");
  });

  it("ends when whoever joined it cancels it, also where its first caller is lost", async () => {
    const { sessionId, workspace } = await service.open();
    const { connection, again } = await begin(sessionId, workspace);
    connection.abort(new Error("killed"));
    const cancel = new AbortController();
    const joined = service.execute({ ...again, signal: cancel.signal });
    // What comes later than the joining call on the same connection is answered after it has joined.
    await service.receipt(sessionId, "c");
    cancel.abort();
    await expect(joined).rejects.toThrow();
    await expect.poll(async () => (await service.receipt(sessionId, "c")).result?.errorCode).toBe("cancelled");
    expect(readFileSync(join(workspace, "lines"), "utf8")).toBe("begun\n");
  });
});
