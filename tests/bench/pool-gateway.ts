import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, type Client } from "@connectrpc/connect";
import { bundledMain } from "@hlvm/bundle/bundled-main";
import { CallPriority, ModelService, Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { ALLOCATOR_TUNABLES } from "@hlvm/service/allocator-tunables";
import { nodeFlags } from "@hlvm/service/node-flags";
import type { LlamaServer } from "@hlvm/testing/llama-server";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import type { PoolTurn, Said, Speak } from "./pool-traffic.ts";

const MAIN = fileURLToPath(new URL("../../services/model-gateway/src/main.ts", import.meta.url));
const BATCH_TOKENS = 24;
const DEADLINE_MILLISECONDS = 120_000;
/** Of an interactive answer. */
export const ANSWER_TOKENS = 12;

/** A real model gateway, in a process of its own. */
export async function withPoolGateway<T>(servers: readonly LlamaServer[], body: (speak: Speak) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-pool-bench-"));
  const identity = await createTestIdentity();
  const keys = join(folder, "keys.json");
  writeFileSync(keys, JSON.stringify({ keys: identity.tokenKeys }));
  const child = fork(bundledMain(MAIN), {
    execArgv: nodeFlags("model-gateway"),
    env: {
      PATH: process.env.PATH,
      ...ALLOCATOR_TUNABLES,
      HLVM_TOKEN_PUBLIC_KEYS: keys,
      HLVM_LLAMA_URLS: servers.map(({ url }) => url).join(","),
      HLVM_LOG_LEVEL: "warn",
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  try {
    const [started] = (await once(child, "message")) as [{ readonly kind: string; readonly port: number }];
    if (started.kind !== "ready") throw new Error(`the model gateway did not start: ${JSON.stringify(started)}`);
    const client = createClient(ModelService, createMeshTransport(`http://127.0.0.1:${started.port}`));
    return await body((turn, { isBatch = false } = {}) =>
      speakThroughGateway(client, { turn, isBatch, token: identity.minter.mint(testPrincipal, "model-gateway") }),
    );
  } finally {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function speakThroughGateway(
  client: Client<typeof ModelService>,
  { turn, isBatch, token }: { readonly turn: PoolTurn; readonly isBatch: boolean; readonly token: string },
): Promise<Said> {
  const options = outgoing({ token, signal: new AbortController().signal, remainingMilliseconds: () => DEADLINE_MILLISECONDS });
  const startedAt = performance.now();
  let firstMilliseconds: number | undefined;
  let [promptTokens, cachedTokens] = [0, 0];
  const request = {
    model: "llama/random",
    messages: turn.text.map((text, index) => ({
      role: index === 0 ? Role.SYSTEM : Role.USER,
      parts: [{ part: { case: "text" as const, value: text } }],
    })),
    maxOutputTokens: isBatch ? BATCH_TOKENS : ANSWER_TOKENS,
    temperature: 1,
    priority: isBatch ? CallPriority.BATCH : CallPriority.INTERACTIVE,
    fairShare: isBatch ? "batch" : `conversation ${turn.conversation}`,
  };
  for await (const { event } of client.generate(request, options)) {
    if (event.case === "alive") continue;
    firstMilliseconds ??= performance.now() - startedAt;
    if (event.case === "usage") {
      cachedTokens = Number(event.value.cacheReadTokens);
      promptTokens = Number(event.value.inputTokens) + cachedTokens;
    }
  }
  const milliseconds = performance.now() - startedAt;
  return { firstMilliseconds: firstMilliseconds ?? milliseconds, milliseconds, promptTokens, cachedTokens };
}
