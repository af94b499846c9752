import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDoorMesh, userToken, type DoorMesh } from "./door-mesh.ts";

const MODEL = "scripted/script";
const PARAMETERS = { type: "object", properties: { city: { type: "string" } } } as const;
const CHAT_TOOL = { type: "function", function: { name: "weather", description: "", parameters: PARAMETERS } } as const;
const RESPONSE_TOOL = { type: "function", name: "weather", parameters: PARAMETERS, strict: false } as const;
const MESSAGE_TOOL = { name: "weather", input_schema: { ...PARAMETERS } };

let mesh: DoorMesh;
let key: string;
let keyId: string;
let openai: OpenAI;
let anthropic: Anthropic;
const embedded: { model: string; input: string[] }[] = [];

/** A server of embeddings: a text's vector tells its length. */
const embeddings = createServer((request, response) => {
  void (async () => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (request.method === "GET") return void response.setHeader("content-type", "application/json").end('{"data":[]}');
    const asked = JSON.parse(Buffer.concat(pieces).toString()) as { model: string; input: string[] };
    embedded.push(asked);
    const data = asked.input.map((text, index) => ({ index, embedding: [text.length, 0.5] })).toReversed();
    response.setHeader("content-type", "application/json").end(JSON.stringify({ data, usage: { prompt_tokens: 7 } }));
  })();
});

beforeAll(async () => {
  await once(embeddings.listen(0, "127.0.0.1"), "listening");
  const port = (embeddings.address() as AddressInfo).port;
  mesh = await startDoorMesh({ HLVM_OPENAI_COMPATIBLE_URL: `http://127.0.0.1:${port}/v1` });
  ({ secret: key, id: keyId } = await mesh.token("--models", "scripted/*,openai-compatible/*"));
  openai = openaiWith(key);
  anthropic = anthropicWith(key);
});

afterAll(async () => {
  await mesh?.stop();
  embeddings.closeAllConnections();
  embeddings.close();
});

function openaiWith(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${mesh.url}/v1`, apiKey });
}

function anthropicWith(apiKey: string): Anthropic {
  return new Anthropic({ baseURL: mesh.url, apiKey });
}

/** The newest calls on record, the newest first. */
async function recorded(count: number): Promise<Record<string, unknown>[]> {
  const events = await mesh.rows("audit", "query", "--kind", "model_called", "--limit", String(count));
  return events.map(({ arguments_json: about, ...event }) => ({ ...event, ...(JSON.parse(about as string) as object) }));
}

async function callsOf(token: string): Promise<Record<string, unknown> | undefined> {
  return (await mesh.rows("cost", "--by", "token")).find((row) => row.token === token);
}

async function refusal(call: Promise<unknown>): Promise<{ status: unknown; error: unknown }> {
  const thrown = await call.then(
    () => expect.unreachable("it should have been refused"),
    (cause: unknown) => cause as { status: unknown; error: unknown },
  );
  return { status: thrown.status, error: thrown.error };
}

const ask = (content: string) => ({ model: MODEL, messages: [{ role: "user" as const, content }] });

describe("OpenAI's stock SDK", () => {
  it("chats, streams, and goes round with a tool; each call is in the ledger and in the audit log", async () => {
    const before = Number((await callsOf(keyId))?.calls ?? 0);
    const plain = await openai.chat.completions.create(ask("Hello"));
    expect(plain.choices[0]).toMatchObject({ finish_reason: "stop", message: { role: "assistant", refusal: null } });
    expect(plain.choices[0]!.message.content).toContain("Hello from the script.");
    expect(plain.usage!.total_tokens).toBe(plain.usage!.prompt_tokens + plain.usage!.completion_tokens);

    const asked = { ...ask("The weather?"), tools: [CHAT_TOOL], stream_options: { include_usage: true } };
    const turn = openai.chat.completions.stream(asked);
    const told = (await turn.finalChatCompletion()).choices[0]!;
    expect(told).toMatchObject({ finish_reason: "tool_calls", message: { content: "I look." } });
    const call = told.message.tool_calls![0]!;
    expect(call).toMatchObject({ type: "function", function: { name: "weather", arguments: '{"city":"Bern"}' } });
    expect((await turn.totalUsage()).total_tokens).toBeGreaterThan(0);
    const result = { role: "tool" as const, tool_call_id: call.id, content: "sunny" };
    const after = await openai.chat.completions.create({ ...ask("The weather?"), messages: [...asked.messages, told.message, result] });
    expect(after.choices[0]!.message.content).toContain("It is sunny.");

    expect(await callsOf(keyId)).toMatchObject({ calls: before + 3, unpriced_calls: 0, estimated_calls: 0 });
    expect((await callsOf(keyId))!.cost_nano_dollars).toBeGreaterThan(0);
    const [last] = await recorded(1);
    expect(last).toMatchObject({ door: "chat_completions", model: MODEL, token_id: keyId, outcome: "succeeded" });
    expect(last).toMatchObject({ input_tokens: after.usage!.prompt_tokens, output_tokens: after.usage!.completion_tokens });
    expect(JSON.stringify(last)).not.toContain("sunny");
  });

  it("has responses, streamed with what they are made of, and goes on with their items", async () => {
    const question = { role: "user" as const, content: "The weather?" };
    const stream = openai.responses.stream({ model: MODEL, input: [question], tools: [RESPONSE_TOOL] });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    const response = await stream.finalResponse();
    expect([types[0], types.at(-1)]).toEqual(["response.created", "response.completed"]);
    expect(response.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call"]);
    const call = response.output.find((item) => item.type === "function_call")!;
    const result = { type: "function_call_output" as const, call_id: call.call_id, output: "sunny" };
    // As it comes: with ids, statuses and what the SDK adds.
    const input = [question, ...JSON.parse(JSON.stringify(stripParsed(response.output))), result] as OpenAI.Responses.ResponseInputItem[];
    const after = await openai.responses.create({ model: MODEL, input, store: false, include: ["reasoning.encrypted_content"] });
    expect(after).toMatchObject({ status: "completed", object: "response" });
    expect(after.output_text).toContain("It is sunny.");
    expect(await recorded(1)).toMatchObject([{ door: "responses", outcome: "succeeded" }]);
  });

  it("has embeddings, in the order of the texts", async () => {
    const answer = await openai.embeddings.create({ model: "openai-compatible/embed", input: ["a", "long text"] });
    expect(answer.data.map(({ embedding }) => embedding)).toEqual([
      [1, 0.5],
      [9, 0.5],
    ]);
    expect(answer).toMatchObject({ model: "openai-compatible/embed", usage: { prompt_tokens: 7 } });
    expect(embedded).toMatchObject([{ model: "embed", input: ["a", "long text"] }]);
    expect(await recorded(1)).toMatchObject([{ door: "embeddings", input_tokens: 7, cost: "unknown" }]);
    const none = await refusal(openai.embeddings.create({ model: MODEL, input: "a" }));
    expect(none).toMatchObject({ status: 400, error: { code: "embeddings_not_supported" } });
  });
});

describe("Anthropic's stock SDK", () => {
  it("has messages, streamed and whole, goes round with a tool, and counts", async () => {
    const asked = { ...ask("The weather?"), max_tokens: 1_000, tools: [MESSAGE_TOOL] };
    const first = await anthropic.messages.stream(asked).finalMessage();
    expect(first).toMatchObject({
      stop_reason: "tool_use",
      content: [{ type: "thinking" }, { text: "I look." }, { input: { city: "Bern" } }],
    });
    const call = first.content.find((block) => block.type === "tool_use")!;
    const result = { type: "tool_result" as const, tool_use_id: call.id, content: [{ type: "text" as const, text: "sunny" }] };
    const messages = [
      ...asked.messages,
      { role: "assistant" as const, content: first.content },
      { role: "user" as const, content: [result] },
    ];
    const after = await anthropic.messages.create({ ...asked, messages, system: [{ type: "text", text: "Be kind." }] });
    expect(after).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text" }] });
    expect(JSON.stringify(after.content)).toContain("It is sunny.");
    const { input_tokens: count } = await anthropic.messages.countTokens({ model: MODEL, messages: asked.messages });
    expect(count).toBeGreaterThan(0);
    expect(await recorded(2)).toMatchObject([
      { door: "count_tokens", cost: 0 },
      { door: "messages", token_id: keyId },
    ]);
  });

  it("is told of a refusal as of an answer, and of a context that does not fit in the words that clients wait for", async () => {
    const refused = await anthropic.messages.create({ ...ask("Please refuse."), max_tokens: 100 });
    expect(refused).toMatchObject({ stop_reason: "refusal", content: [{ text: expect.stringContaining("Not that.") }] });
    const long = await refusal(anthropic.messages.create({ ...ask("overflow"), max_tokens: 100 }));
    expect(long).toMatchObject({ status: 400, error: { error: { type: "invalid_request_error" } } });
    expect(JSON.stringify(long.error)).toContain("prompt is too long");
    expect(await refusal(openai.chat.completions.create(ask("overflow")))).toMatchObject({ error: { code: "context_length_exceeded" } });
  });
});

describe("a key", () => {
  it("lists and reaches the models that it is for, and no others", async () => {
    const listed = await Promise.all([openai.models.list(), anthropic.models.list()]);
    for (const { data } of listed) expect(data.map(({ id }) => id)).toEqual([MODEL]);
    expect(await openai.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: "model" });
    expect(await refusal(openai.models.retrieve("demo/rules"))).toMatchObject({ status: 404 });
    const other = { ...ask("Hello"), model: "demo/rules" };
    expect(await refusal(openai.chat.completions.create(other))).toMatchObject({ status: 403, error: { code: "model_not_permitted" } });
    const denied = await refusal(anthropic.messages.create({ ...other, max_tokens: 10 }));
    expect(denied).toMatchObject({ status: 403, error: { type: "error", error: { type: "permission_error" } } });
    expect(await recorded(1)).toMatchObject([{ model: "demo/rules", outcome: "refused", outcome_summary: "model_not_permitted" }]);
  });

  it("that is wrong, was revoked or is for something else is refused in each protocol's own words", async () => {
    const wrong = `hlvm_pat_${"x".repeat(43)}`;
    expect(await refusal(openaiWith(wrong).models.list())).toMatchObject({ status: 401, error: { code: "invalid_api_key" } });
    const { secret, id } = await mesh.token();
    expect((await anthropicWith(secret).models.list()).data.length).toBeGreaterThan(1);
    await mesh.rows("token", "revoke", id);
    const revoked = async () => refusal(anthropicWith(secret).messages.create({ ...ask("Hello"), max_tokens: 10 }));
    await expect.poll(revoked).toMatchObject({ status: 401, error: { type: "error", error: { type: "authentication_error" } } });
    const [reading] = await mesh.rows("token", "create", "reader", "--scope", "read");
    const reader = openaiWith(reading!.secret as string);
    expect(await refusal(reader.chat.completions.create(ask("Hello")))).toMatchObject({ status: 403, error: { code: "scope_missing" } });
    expect((await openaiWith(userToken(mesh)).chat.completions.create(ask("Hello"))).choices).toHaveLength(1);
  });

  it("reaches no further than its budget, which the stock SDKs do not try again", async () => {
    const { secret, id } = await mesh.token("--max-turns", "1");
    await openaiWith(secret).chat.completions.create(ask("Hello"));
    expect(await refusal(openaiWith(secret).chat.completions.create(ask("Hello")))).toMatchObject({
      status: 429,
      error: { type: "insufficient_quota", code: "insufficient_quota" },
    });
    const broke = await refusal(anthropicWith(secret).messages.create({ ...ask("Hello"), max_tokens: 10 }));
    expect(broke).toMatchObject({ status: 402, error: { type: "error", error: { type: "billing_error" } } });
    expect(await recorded(3)).toMatchObject([{ outcome: "refused" }, { outcome: "refused" }, { outcome: "succeeded" }]);
    const budgets = await mesh.rows("budget", "list");
    expect(budgets.find(({ subject }) => subject === id)).toMatchObject({ scope: "token", kind: "turns", used: 1, reserved: 0 });
  });
});

describe("a call", () => {
  it("whose client goes away ends, and is settled by what was seen of it", async () => {
    const { secret, id } = await mesh.token("--max-tokens", "100000");
    const stream = await openaiWith(secret).chat.completions.create({ ...ask("count slowly"), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    await expect.poll(() => recorded(1)).toMatchObject([{ token_id: id, outcome: "cancelled", estimated: true }]);
    expect(await callsOf(id)).toMatchObject({ calls: 1, estimated_calls: 1 });
    const budget = (await mesh.rows("budget", "list")).find(({ subject }) => subject === id)!;
    expect(budget).toMatchObject({ reserved: 0 });
    expect(budget.used).toBeLessThan(400);
  });

  it("that fails in its stream says so there", async () => {
    const chat = async () => {
      for await (const _ of await openai.chat.completions.create({ ...ask("break off"), stream: true }));
    };
    await expect(chat()).rejects.toThrow("The model is broken.");
    await expect(anthropic.messages.stream({ ...ask("break off"), max_tokens: 10 }).finalMessage()).rejects.toThrow("The model is broken.");
    const types: string[] = [];
    const respond = async () => {
      for await (const { type } of await openai.responses.create({ model: MODEL, input: "break off", stream: true })) types.push(type);
    };
    await expect(respond()).rejects.toThrow("The model is broken.");
    expect(types.slice(-2)).toEqual(["response.output_text.delta", "response.failed"]);
    expect(await recorded(3)).toMatchObject([{ outcome: "failed" }, { outcome: "failed" }, { outcome: "failed" }]);
  });

  it("that asks for what there is not is refused, and the field named", async () => {
    const chat = { model: MODEL, messages: [{ role: "user", content: "Hi" }] };
    const refused: [string, object, string][] = [
      ["chat/completions", { ...chat, n: 2 }, "n"],
      ["chat/completions", { ...chat, logprobs: true }, "logprobs"],
      ["chat/completions", { ...chat, frobnicate: 1 }, "frobnicate"],
      ["chat/completions", { ...chat, messages: [{ role: "user", content: [{ type: "input_audio" }] }] }, "messages.0.content.0.type"],
      [
        "chat/completions",
        { ...chat, messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://127.0.0.1/x.png" } }] }] },
        "messages.0.content.0.image_url.url",
      ],
      ["responses", { model: MODEL, input: "Hi", previous_response_id: "resp_1" }, "previous_response_id"],
      ["responses", { model: MODEL, input: "Hi", tools: [{ type: "web_search" }] }, "tools.0.type"],
      ["responses", { model: MODEL, input: [{ type: "item_reference", id: "x" }] }, "input.0.type"],
      ["messages", { ...chat, max_tokens: 5, top_k: 4 }, "top_k"],
      ["messages", { ...chat, max_tokens: 5, tools: [{ type: "web_search_20250305", name: "web_search" }] }, "tools.0.type"],
      ["messages", { ...chat }, "max_tokens"],
      ["embeddings", { model: MODEL, input: [[1, 2]] }, "input.0"],
    ];
    for (const [door, body, field] of refused) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const answer = await fetch(`${mesh.url}/v1/${door}`, { method: "POST", headers, body: JSON.stringify(body) });
      const { error } = (await answer.json()) as { error: { message: string; param?: string } };
      const param = door === "messages" ? undefined : field;
      expect([door, answer.status, error.message.split(":")[0], error.param]).toEqual([door, 400, field, param]);
    }
    const nowhere = await fetch(`${mesh.url}/v1/completions`, { method: "POST", headers: { authorization: `Bearer ${key}` } });
    expect([nowhere.status, await nowhere.json()]).toMatchObject([404, { error: { code: "no_such_door" } }]);
  });
});

/** What the SDK adds to the items that it has read. */
function stripParsed(items: readonly object[]): object[] {
  return items.map(
    (item) => JSON.parse(JSON.stringify(item, (name, value: unknown) => (name.startsWith("parsed") ? undefined : value))) as object,
  );
}
