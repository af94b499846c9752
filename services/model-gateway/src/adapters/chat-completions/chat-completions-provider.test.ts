import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, generationOf, said, textIn } from "../suite/generations.ts";
import { frame } from "../suite/protocols.ts";
import { beginStream, errorReply, readFixture, ReplayServer, type Reply } from "../suite/replay-server.ts";
import { ChatCompletionsProvider } from "./chat-completions-provider.ts";

const server = new ReplayServer({
  "/v1/models": {
    data: [
      { id: "m", max_model_len: 12_345 },
      { id: "seeing", architecture: { input_modalities: ["text", "image"] } },
      { id: "qwen3-vl-blind", architecture: { input_modalities: ["text"] } },
    ],
  },
});
const generation = generationOf("m", [said("user", "Hello?")]);
const never = new AbortController().signal;
const whole =
  (name: string): Reply =>
  (response) =>
    void beginStream(response).end(`${readFixture("openai-chat", name).map(frame).join("")}data: [DONE]\n\n`);
/** Told by undici. */
const WHOLE_ANSWER = "undici:request:trailers";
let url: string;
let provider: ChatCompletionsProvider;

beforeAll(async () => {
  url = await server.start();
  provider = new ChatCompletionsProvider({ name: "openai-compatible", baseUrl: `${url}/v1/`, apiKey: "secret" });
});
afterAll(() => server.stop());

it("sends its key, and the limit under the newer name to a model that refuses the older", async () => {
  const refusal = {
    error: {
      message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
      type: "invalid_request_error",
      code: "unsupported_parameter",
    },
  };
  server.play(errorReply(400, refusal), whole("text"));
  expect(textIn(await ask(provider, generation))).toBe("Hello, world.");
  await ask(provider, generation);
  expect(server.requests.map(({ body }) => Object.keys(JSON.parse(body) as object).filter((field) => field.startsWith("max_")))).toEqual([
    ["max_tokens"],
    ["max_completion_tokens"],
    ["max_completion_tokens"],
  ]);
  expect(server.requests[0]?.headers.authorization).toBe("Bearer secret");
});

it("keeps its connection where the server ends the stream a little after [DONE]", async () => {
  const connections = new Set<number | undefined>();
  for (let request = 0; request < 5; request++) {
    const answered = Promise.withResolvers<void>();
    const read = new Promise<void>((resolve) => {
      const seen = (): void => resolve(void unsubscribe(WHOLE_ANSWER, seen));
      subscribe(WHOLE_ANSWER, seen);
    });
    server.play(async (response) => {
      connections.add(response.socket!.remotePort);
      beginStream(response).write(`${readFixture("openai-chat", "text").map(frame).join("")}data: [DONE]\n\n`);
      await answered.promise;
      response.end();
    });
    await ask(provider, generation);
    answered.resolve();
    await read;
  }
  // Earlier requests may have left a second one.
  expect(connections.size).toBeLessThanOrEqual(2);
});

it("tells parallel calls apart that share an index", async () => {
  server.play(whole("tool-calls-same-index"));
  const deltas = await ask(provider, generation);
  expect(deltas.flatMap((delta) => (delta.kind === "tool-call" ? [delta.tool] : []))).toEqual(["read_file", "list_files"]);
});

it("takes the context window from the server's list, and any name that is not on it", async () => {
  expect(await provider.describe("m", never)).toMatchObject({ name: "m", contextWindow: 12_345 });
  expect(await provider.describe("other", never)).toMatchObject({ name: "other", contextWindow: 32_768 });
});

it("gives images to models of which the server says that they take them, else to those whose names are known to", async () => {
  const takes = async (name: string) => (await provider.describe(name, never)).takesImages;
  const names = ["seeing", "qwen3-vl-blind", "m", "gemini-3-pro", "Qwen2.5-VL-7B", "llava:13b", "devlin-7b", "gpt-3.5-turbo"];
  expect(await Promise.all(names.map(takes))).toEqual([true, false, false, true, true, true, false, false]);
});

it("does without a list", async () => {
  const listless = new ChatCompletionsProvider({ name: "openai-compatible", baseUrl: `${url}/v2`, apiKey: "" });
  server.play(errorReply(404, {}));
  expect(await listless.describe("m", never)).toMatchObject({ name: "m" });
  await expect(listless.list(never)).rejects.toMatchObject({ class: "permanent" });
});
