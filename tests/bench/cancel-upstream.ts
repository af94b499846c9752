import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { GenerateRequestSchema, Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { isFinish, spawnGateway, type Calls } from "./gateway/own-gateway.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const CALLS = 500;
const AT_ONCE = [1, 10, 50];
const UP_MILLISECONDS = 20_000;
const CALL_MILLISECONDS = 60_000;
const LIMIT_MILLISECONDS = 100;
const chunk = (choice: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;

interface Caller {
  readonly calls: Calls;
  readonly token: string;
  readonly provider: NeverEnding;
}

/** From a caller that goes away in the middle of an answer to the end of the gateway's connection to the provider. */
export async function benchCancelUpstream(): Promise<void> {
  const provider = new NeverEnding();
  const gateway = await spawnGateway(await provider.start());
  const rows = [];
  try {
    const caller = (): Caller => ({ calls: gateway.newCalls(), token: gateway.newToken(), provider });
    await untilUp(caller);
    for (const together of AT_ONCE) {
      const times: number[] = [];
      const worker = async (): Promise<void> => {
        const own = caller();
        while (times.length < CALLS) times.push(await leave(own));
      };
      await Promise.all(Array.from({ length: together }, worker));
      rows.push({
        "callers at once": together,
        calls: times.length,
        p50: quantile(times, 0.5),
        p99: quantile(times, 0.99),
        max: Math.max(...times),
        limit: LIMIT_MILLISECONDS,
      });
    }
  } finally {
    await gateway.stop();
    provider.stop();
  }
  printTable("Client gone until its upstream is aborted, milliseconds", rows);
}

let made = 0;

/** One call that its caller leaves after the first piece: how long the provider went on. */
async function leave({ calls, token, provider }: Caller): Promise<number> {
  const name = `call-${made++}`;
  const gone = provider.gone(name);
  const leaving = new AbortController();
  const messages = [{ role: Role.USER, parts: [{ part: { case: "text" as const, value: "?" } }] }];
  const value = create(GenerateRequestSchema, { model: `openai-compatible/${name}`, messages });
  const limits = { token, timeoutMilliseconds: CALL_MILLISECONDS, signal: leaving.signal };
  let leftAt = 0;
  try {
    for await (const response of calls.call({ case: "generate", value }, limits, isFinish)) {
      if (response.case !== "generate" || response.value.event.case !== "textDelta" || leftAt > 0) continue;
      leftAt = performance.now();
      leaving.abort();
    }
  } catch (thrown) {
    if (leftAt === 0) throw thrown;
  }
  return (await gone) - leftAt;
}

async function untilUp(caller: () => Caller): Promise<void> {
  for (const until = performance.now() + UP_MILLISECONDS; ; await sleep(100)) {
    try {
      await leave(caller());
      return;
    } catch (cause) {
      if (performance.now() > until) throw cause;
    }
  }
}

/** A provider that says one word and then nothing, and knows when its caller is gone. */
class NeverEnding {
  readonly #gone = new Map<string, (at: number) => void>();
  readonly #server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => this.#answer(Buffer.concat(pieces).toString(), response));
  });

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** When the call of this model lost its caller. */
  gone(model: string): Promise<number> {
    return new Promise((resolve) => this.#gone.set(model, resolve));
  }

  #answer(body: string, response: ServerResponse): void {
    const model = /"model":\s*"(call-\d+)"/.exec(body)?.[1] ?? "";
    response.on("close", () => {
      this.#gone.get(model)?.(performance.now());
      this.#gone.delete(model);
    });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(chunk({ delta: { content: "Well" } }));
  }
}
