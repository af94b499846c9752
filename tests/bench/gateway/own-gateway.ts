import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { CallStream } from "@hlvm/call-stream/call-stream";
import { freePorts } from "@hlvm/meilisearch-binary/free-ports";
import {
  GenerateRequestSchema,
  ModelService,
  Role,
  type StreamCallsRequest,
  type StreamCallsResponse,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { NODE_FLAGS } from "@hlvm/service/node-flags";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { ended, type Started } from "./peers.ts";

const MAIN = fileURLToPath(new URL("../../../services/model-gateway/src/main.ts", import.meta.url));
const UP_MILLISECONDS = 20_000;
const CALL_MILLISECONDS = 60_000;
const TOKEN_MILLISECONDS = 60_000;

export type Calls = CallStream<StreamCallsRequest["request"], StreamCallsResponse["response"]>;

/** The model gateway, one process that may not be up yet, and how to call it as a run does. */
export async function spawnGateway(upstream: string) {
  const [port] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), "hlvm-gateway-"));
  const { minter, tokenKeys } = await createTestIdentity();
  const keys = join(folder, "token-public.jwks");
  writeFileSync(keys, JSON.stringify({ keys: tokenKeys }));
  const environment = {
    PATH: process.env.PATH!,
    HLVM_DIR: folder,
    HLVM_HOST: "127.0.0.1",
    HLVM_PORT: String(port),
    HLVM_TOKEN_PUBLIC_KEYS: keys,
    HLVM_OPENAI_COMPATIBLE_URL: upstream,
    HLVM_LOG_LEVEL: "error",
  };
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN], { stdio: ["ignore", "ignore", "inherit"], env: environment });
  const client = createClient(ModelService, createMeshTransport(`http://127.0.0.1:${port}`));
  /** It lives for two minutes. */
  const newToken = (): string => minter.mint(testPrincipal, "model-gateway");
  const newCalls = (): Calls =>
    new CallStream(ModelService.method.streamCalls, (requests, bearer, signal) =>
      client.streamCalls(requests, { headers: { authorization: `Bearer ${bearer}` }, signal, timeoutMs: 0 }),
    );
  return { child, newCalls, newToken, stop: (): Promise<void> => ended(child, () => child.kill()) };
}

/** The model gateway, called as services call it. */
export async function startOwnGateway(upstream: string): Promise<Started> {
  const { child, newCalls, newToken, stop } = await spawnGateway(upstream);
  /** Those that no call is on: a run asks its model turn by turn on one of its own. */
  const idle: Calls[] = [];
  let token = { text: newToken(), mintedAt: performance.now() };
  const ask = async (model: string, bytes: number) => {
    const calls = idle.pop() ?? newCalls();
    const messages = [{ role: Role.USER, parts: [{ part: { case: "text" as const, value: "x".repeat(bytes) } }] }];
    const value = create(GenerateRequestSchema, { model: `openai-compatible/${model}`, messages });
    const pieces: { text: string; at: number }[] = [];
    let isWhole = false;
    if (performance.now() - token.mintedAt > TOKEN_MILLISECONDS) token = { text: newToken(), mintedAt: performance.now() };
    const limits = { token: token.text, timeoutMilliseconds: CALL_MILLISECONDS };
    for await (const response of calls.call({ case: "generate", value }, limits, isFinish)) {
      if (response.case !== "generate") continue;
      const { event } = response.value;
      if (event.case === "textDelta") pieces.push({ text: event.value, at: Date.now() });
      isWhole ||= event.case === "finish";
    }
    idle.push(calls);
    if (!isWhole) throw new Error("an answer without its end");
    return { pieces };
  };
  for (const until = performance.now() + UP_MILLISECONDS; ; await sleep(100)) {
    try {
      await ask("one", 20);
      break;
    } catch (cause) {
      if (performance.now() < until && child.exitCode === null) continue;
      await stop();
      throw cause;
    }
  }
  return { way: { name: "model-gateway, as services call it", pid: child.pid, ask: ({ model, bytes = 20 }) => ask(model, bytes) }, stop };
}

export function isFinish(response: StreamCallsResponse["response"]): boolean {
  return response.case === "generate" && response.value.event.case === "finish";
}
