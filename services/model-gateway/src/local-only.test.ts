import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { readGatewayConfig } from "./config.ts";
import { generate } from "./domain/generate.ts";
import type { Generation } from "./domain/generation.ts";
import { ModelCatalogue } from "./domain/model-catalogue.ts";
import { PriceTable } from "./domain/price-table.ts";
import { Router } from "./domain/routing/router.ts";
import { DEFAULT_ORDER, providers } from "./providers.ts";

const OLLAMA_PORT = 11_434;
const never = new AbortController().signal;

it("reaches no Ollama by any other way than its name: one that listens hears nothing", async (context) => {
  let heard = 0;
  const ollama = createServer((socket) => {
    heard++;
    socket.destroy();
  });
  ollama.listen(OLLAMA_PORT, "127.0.0.1");
  try {
    await once(ollama, "listening");
  } catch (thrown) {
    return context.skip(`port ${OLLAMA_PORT} is taken: ${String(thrown)}`);
  }
  try {
    await useEverything({});
    expect(heard).toBe(0);
    // It would have heard: named, it is asked.
    await useEverything({ HLVM_OLLAMA_URL: `http://127.0.0.1:${OLLAMA_PORT}` });
    expect(heard).toBeGreaterThan(0);
  } finally {
    ollama.close();
  }
});

/** Lists, chooses and asks all that there is, local models above all; what comes of it does not matter. */
async function useEverything(environment: Record<string, string>): Promise<void> {
  const known = providers(readGatewayConfig({ HLVM_TOKEN_PUBLIC_KEYS: "/keys.json", ...environment }));
  const catalogue = new ModelCatalogue(known, "", DEFAULT_ORDER);
  const route = { name: "r", models: [{ id: "local/llama3.2" }, { id: "demo/rules" }], needs: { localOnly: true } };
  const router = new Router({ catalogue, routes: new Map([["r", route]]), prices: new PriceTable() });
  const listed = (await router.list(never)).map(({ id }) => id);
  const named = ["", "auto", "route/r", "local/llama3.2", "ollama/llama3.2", "llama/llama3.2", "openai-compatible/x"];
  for (const wanted of [...named, ...listed]) {
    for (const localOnly of [true, false]) await answered(router.resolve(wanted, { task: "", needs: { localOnly } }, never));
    for (const from of ["", "auto", "route/r"]) await answered(ask(catalogue, router, wanted, from));
  }
}

/** Or refused, in words for a person. */
async function answered(work: Promise<unknown>): Promise<void> {
  await work.catch((thrown: unknown) => {
    if (!(thrown instanceof HlvmError)) throw thrown;
  });
}

async function ask(catalogue: ModelCatalogue, router: Router, model: string, route: string): Promise<void> {
  const target = catalogue.find(model);
  const messages: Generation["messages"] = [{ role: "user", parts: [{ kind: "text", text: "Hello?" }] }];
  const generation = { model: target.name, messages, tools: [], maximumOutputTokens: 100, temperature: undefined };
  const next = router.next({ route, model, needs: {} }, generation, never);
  const options = { signal: never, remainingMilliseconds: 200, onRetry: () => undefined, next };
  const told = generate(target, generation, options);
  while (!(await told.next()).done) continue;
}
