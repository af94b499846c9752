import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { bundledMain } from "@hlvm/bundle/bundled-main";
import { CallStream } from "@hlvm/call-stream/call-stream";
import { SharedCallStreams } from "@hlvm/call-stream/shared-call-streams";
import { freePorts } from "@hlvm/meilisearch-binary/free-ports";
import {
  GenerateRequestSchema,
  ModelService,
  Role,
  type StreamCallsRequest,
  type StreamCallsResponse,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ALLOCATOR_TUNABLES } from "@hlvm/service/allocator-tunables";
import { nodeFlags } from "@hlvm/service/node-flags";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import type { Way } from "./http-way.ts";
import { ended, type Started } from "./peers.ts";

const SERVICE = "model-gateway";
const MAIN = fileURLToPath(new URL("../../../services/model-gateway/src/main.ts", import.meta.url));
const PLAIN_STREAM = fileURLToPath(new URL("plain-stream.ts", import.meta.url));
const UP_MILLISECONDS = 20_000;
const CALL_MILLISECONDS = 60_000;
const TOKEN_MILLISECONDS = 60_000;

export type Calls = SharedCallStreams<StreamCallsRequest["request"], StreamCallsResponse["response"]>;

/** The model gateway, one process that may not be up yet, and how to call it as a run does. */
export async function spawnGateway(upstream: string) {
  const [port] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), "hlvm-gateway-"));
  const { minter, tokenKeys } = await createTestIdentity();
  const keys = join(folder, "token-public.jwks");
  writeFileSync(keys, JSON.stringify({ keys: tokenKeys }));
  const environment = {
    PATH: process.env.PATH!,
    ...ALLOCATOR_TUNABLES,
    HLVM_DIR: folder,
    HLVM_HOST: "127.0.0.1",
    HLVM_PORT: String(port),
    HLVM_TOKEN_PUBLIC_KEYS: keys,
    HLVM_OPENAI_COMPATIBLE_URL: upstream,
    HLVM_LOG_LEVEL: "error",
  };
  const child = spawn(process.execPath, [...nodeFlags(SERVICE), bundledMain(MAIN)], {
    stdio: ["ignore", "ignore", "inherit"],
    env: environment,
  });
  let callers = 0;
  /** Of another person each time. It lives for two minutes. */
  const newToken = (): string => minter.mint({ ...testPrincipal, id: `user:${++callers}` }, SERVICE);
  return { child, newCalls: callsTo(port!), newToken, stop: (): Promise<void> => ended(child, () => child.kill()) };
}

/** The model gateway, called as services call it. */
export async function startOwnGateway(upstream: string): Promise<Started> {
  const { child, newCalls, newToken, stop } = await spawnGateway(upstream);
  const ask = askInRuns(newCalls(), newToken);
  for (const until = performance.now() + UP_MILLISECONDS; ; await sleep(100)) {
    try {
      await ask({ model: "one" });
      break;
    } catch (cause) {
      if (performance.now() < until && child.exitCode === null) continue;
      await stop();
      throw cause;
    }
  }
  return { way: { name: "model-gateway, as services call it", pid: child.pid, ask }, stop };
}

/** What stock transports take for the same contract, with nothing else done. */
export async function startPlainStream(upstream: string): Promise<Started> {
  const child = fork(PLAIN_STREAM, [upstream], {
    env: { PATH: process.env.PATH!, ...ALLOCATOR_TUNABLES },
    execArgv: nodeFlags(SERVICE),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  const ask = askInRuns(callsTo(port)(), () => "none");
  const way = { name: "the same contract on stock transports, and nothing done", pid: child.pid, ask };
  return { way, stop: () => ended(child, () => child.disconnect()) };
}

interface Run {
  readonly token: string;
  readonly mintedAt: number;
}

/** Each call by a run that makes no other at the same time, and has a token of its own; all on the streams that runs share. */
function askInRuns(calls: Calls, newToken: () => string): Way["ask"] {
  const idle: Run[] = [];
  const newRun = (): Run => ({ token: newToken(), mintedAt: performance.now() });
  return async ({ model, bytes = 20 }) => {
    let run = idle.pop() ?? newRun();
    if (performance.now() - run.mintedAt > TOKEN_MILLISECONDS) run = newRun();
    const messages = [{ role: Role.USER, parts: [{ part: { case: "text" as const, value: "x".repeat(bytes) } }] }];
    const value = create(GenerateRequestSchema, { model: `openai-compatible/${model}`, messages });
    const pieces: { text: string; at: number }[] = [];
    let isWhole = false;
    const limits = { token: run.token, timeoutMilliseconds: CALL_MILLISECONDS };
    for await (const response of calls.call({ case: "generate", value }, limits, isFinish)) {
      if (response.case !== "generate") continue;
      const { event } = response.value;
      if (event.case === "textDelta") pieces.push({ text: event.value, at: performance.now() });
      isWhole ||= event.case === "finish";
    }
    idle.push(run);
    if (!isWhole) throw new Error("an answer without its end");
    return { pieces };
  };
}

/** All over one connection, as a replica has it to another. */
function callsTo(port: number): () => Calls {
  const client = createClient(ModelService, createMeshTransport(`http://127.0.0.1:${port}`));
  const open = (isShared: boolean) =>
    new CallStream<StreamCallsRequest["request"], StreamCallsResponse["response"]>(
      ModelService.method.streamCalls,
      (requests, bearer, signal) => client.streamCalls(requests, { headers: { authorization: `Bearer ${bearer}` }, signal, timeoutMs: 0 }),
      { isShared },
    );
  return () => new SharedCallStreams(open);
}

export function isFinish(response: StreamCallsResponse["response"]): boolean {
  return response.case === "generate" && response.value.event.case === "finish";
}
