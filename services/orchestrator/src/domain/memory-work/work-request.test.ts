import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startLlamaServer, type LlamaServerAttempt } from "@hlvm/testing/llama-server";
import { workRequest } from "./work-request.ts";

let llama: LlamaServerAttempt;
beforeAll(async () => {
  llama = await startLlamaServer(1);
}, 180_000);
afterAll(async () => {
  if ("stop" in llama) await llama.stop();
});

describe("a request about an item", () => {
  it.for([
    ["session", '[{"speaker":"person","text":"Why?"}]', /^\{\s*"label"\s*:\s*"/],
    ["fact", "We deploy on Thursdays", /^\{\s*"subject"\s*:\s*"/],
  ] as const)("holds a llama-server to the answer's form: a %s", async ([kind, text, form], context) => {
    if ("unavailable" in llama) return context.skip(llama.unavailable);
    const { outputFormat } = workRequest("local/random", { kind, text });
    // Of a model of random weights no more than the first name of the answer is sure, and up to 22 characters of space around it.
    const body = { prompt: text, json_schema: JSON.parse(outputFormat!.schemaJson) as object, n_predict: 96 };
    const response = await fetch(`${llama.url}/completion`, { method: "POST", body: JSON.stringify(body) });
    const answer = (await response.json()) as { readonly content?: string };
    expect(response.status).toBe(200);
    expect(answer.content).toMatch(form);
  });
});
