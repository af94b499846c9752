import { startLlamaServer, type LlamaServer } from "@hlvm/testing/llama-server";

export const POOL_SLOTS = 2;
/** A fifth of a millisecond of one processor for each token of a prompt, more or less. */
const SIZE = { width: 192, blocks: 3 };
/** As `hlvm model serve` has them; and a model that means nothing says so many words. */
const FLAGS = ["--cache-ram", "0", "--no-cache-idle-slots", "--slot-prompt-similarity", "0.5", "--batch-size", "512", "--ignore-eos"];

/** Fresh llama-servers with a model whose prompts take time to read, for as long as the body runs. */
export async function withServers<T>(count: number, body: (servers: readonly LlamaServer[]) => Promise<T>): Promise<T> {
  const servers: LlamaServer[] = [];
  try {
    for (let index = 0; index < count; index++) {
      const server = await startLlamaServer(POOL_SLOTS, { size: SIZE, flags: FLAGS });
      if ("unavailable" in server) throw new Error(server.unavailable);
      servers.push(server);
    }
    return await body(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
