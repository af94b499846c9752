import { afterEach, describe, expect, it, vi } from "vitest";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Delta, Generation } from "../../domain/generation.ts";
import { ask, collect, generationOf, said, textIn } from "../suite/generations.ts";
import { frame } from "../suite/protocols.ts";
import { beginStream, errorReply, readFixture } from "../suite/replay-server.ts";
import { answerChat, beginChat, endChat, FakeLlama, type AskedChat } from "../../testing/fake-llama.ts";
import { LlamaProvider } from "./llama-provider.ts";
import { PoolRequest } from "./pool-request.ts";
import type { SlotGroup } from "./slot-group.ts";

const generation = generationOf("m", [said("user", "Hello?")]);
const batch: Generation = { ...generation, priority: "batch" };
const drains = async (provider: LlamaProvider) => (await provider.pool.instances()).map(({ drain }) => drain?.kind);
const now = performance.now.bind(performance);
/** Nobody has asked for anything interactive for so long. */
const quietSince = (milliseconds: number): void => void vi.spyOn(performance, "now").mockImplementation(() => now() + milliseconds);
const later = (): void => void vi.spyOn(Date, "now").mockReturnValue(Date.now() + 10_000);

afterEach(() => void vi.restoreAllMocks());

describe("a llama-server's faults", () => {
  it("is never told to go on after its caller has gone, and always to say how far it has read", async () => {
    const fake = await FakeLlama.start(1);
    fake.onChat = answerChat;
    await ask(new LlamaProvider({ urls: [fake.url] }), { ...generation, cacheKey: "c", fairShare: "ada" });
    expect(Object.keys(fake.chats[0]!.headers)).not.toContain("x-conversation-id");
    expect(fake.chats[0]!.body).toMatchObject({ return_progress: true });
  });

  it("is well where its model wrote what cannot be parsed", async () => {
    const fake = await FakeLlama.start(1);
    const words = "Failed to parse input at pos 12: <tool_call>{";
    fake.onChat = ({ response }) => void errorReply(500, { error: { code: 500, message: words, type: "server_error" } })(response);
    const provider = new LlamaProvider({ urls: [fake.url] });
    await expect(ask(provider, generation)).rejects.toMatchObject({ reason: "model_output_unparsable", class: "transient" });
    fake.onChat = answerChat;
    expect(textIn(await ask(provider, generation))).toBe("Hello, world.");
    expect((await provider.pool.instances()).map(({ lastError }) => lastError)).toEqual([""]);
  });

  it("may let through a call that breaks its tool's schema: it is handed on as it was written, for whoever runs tools to refuse", async () => {
    const fake = await FakeLlama.start(1);
    const call = { index: 0, id: "c", type: "function", function: { name: "read_file", arguments: '{"path":7,"also":true}' } };
    const whole = { choices: [{ delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] };
    fake.onChat = ({ response }) => void beginStream(response).end(`${frame(JSON.stringify(whole))}data: [DONE]\n\n`);
    expect(await ask(new LlamaProvider({ urls: [fake.url] }), generation)).toContainEqual({
      kind: "tool-call",
      id: "c",
      tool: "read_file",
      argumentsJson: '{"path":7,"also":true}',
    });
  });

  it("is read whatever form its slots have, and what somebody else uses of them is left alone", async () => {
    for (const slot of [
      { is_processing: true, next_token: [{ has_next_token: true }] },
      { is_processing: true, next_token: { has_next_token: false } },
      { next_token: [{ has_next_token: true }] },
      { next_token: { has_next_token: true } },
    ]) {
      const slots = [slot, { is_processing: false, next_token: [] }, "neither"];
      const fake = await FakeLlama.start(2, { "/props": { total_slots: 2, endpoint_slots: true }, "/slots": slots });
      const provider = new LlamaProvider({ urls: [fake.url] });
      const [instance] = await provider.pool.instances();
      expect(instance!.groups.map(({ elsewhere }) => elsewhere)).toEqual([1]);
      const [first, second] = [ask(provider, generation), ask(provider, generation)];
      const chat = await fake.chat(0);
      // Whatever else was sent has arrived before this.
      await (await fetch(`${fake.url}/props`)).text();
      expect(fake.chats).toHaveLength(1);
      answerChat(chat);
      await first;
      answerChat(await fake.chat(1));
      await second;
    }
  });

  it("is believed no longer context than its slots have, nor than it has refused", async () => {
    const fixed = {
      "/props": { total_slots: 2, endpoint_slots: true, default_generation_settings: { n_ctx: 131_072 } },
      "/slots": [{ id: 0, n_ctx: 65_536, is_processing: false }],
    };
    const fake = await FakeLlama.start(2, fixed);
    const provider = new LlamaProvider({ urls: [fake.url] });
    expect((await provider.describe("m"))?.contextWindow).toBe(65_536);
    const message = "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it";
    fake.onChat = ({ response }) => void errorReply(400, { error: { code: 400, message, type: "exceed_context_size_error" } })(response);
    await expect(ask(provider, generation)).rejects.toMatchObject({ class: "context_overflow" });
    expect((await provider.describe("m"))?.contextWindow).toBe(8_192);
  });

  it("gets no more requests once it goes on with another's answer, until a person resumes it", async () => {
    const [mixed, other] = [await FakeLlama.start(1), await FakeLlama.start(1)];
    const piece = (id: string, content: string) => frame(JSON.stringify({ id, choices: [{ delta: { content } }] }));
    const provider = new LlamaProvider({ urls: [mixed.url, other.url] });
    const asked = ask(provider, generation);
    beginStream((await mixed.chat(0)).response).write(piece("chatcmpl-1", "mine") + piece("chatcmpl-2", "somebody's secret"));
    await expect(asked).rejects.toMatchObject({ reason: "cross_talk" });
    expect(await drains(provider)).toEqual(["distrusted", undefined]);
    other.onChat = answerChat;
    for (let time = 0; time < 3; time++) await ask(provider, generation);
    expect([mixed.chats.length, other.chats.length]).toEqual([1, 3]);
  });

  it("is tried now and then with secrets that no other conversation may say", async () => {
    const tried = async (leaks: boolean, cached: number) => {
      const fake = await FakeLlama.start(2);
      fake.onChat = (chat) => {
        if (chat.body.stream === true) return answerChat(chat);
        const content = chat.body.messages[0]!.content;
        const first = fake.chats.find(({ body }) => body.stream !== true)!.body.messages[0]!.content;
        const usage = { prompt_tokens: 300, completion_tokens: 24, prompt_tokens_details: { cached_tokens: cached } };
        chat.response.end(JSON.stringify({ choices: [{ message: { content: leaks ? first : content } }], usage }));
      };
      const provider = new LlamaProvider({ urls: [fake.url], answersBetweenCanaries: 2 });
      await ask(provider, generation);
      expect(fake.chats).toHaveLength(1);
      await ask(provider, generation);
      const [instance] = await provider.pool.instances();
      await expect.poll(() => instance!.inFlight).toBe(0);
      return { provider, trials: fake.chats.length - 2, drain: instance!.drain };
    };
    expect(await tried(false, 20)).toMatchObject({ trials: 4, drain: undefined });
    expect(await tried(false, 299)).toMatchObject({ trials: 1, drain: { why: expect.stringContaining("299 of 300 tokens") } });
    const leaking = await tried(true, 20);
    expect(leaking).toMatchObject({ trials: 2, drain: { kind: "distrusted" } });
    await expect(ask(leaking.provider, generation)).rejects.toMatchObject({
      reason: "servers_drained",
      message: expect.stringContaining("mixes conversations up"),
    });
  });

  it("reads ahead while tools run only where nobody waits, and stops as soon as somebody asks", async () => {
    const fake = await FakeLlama.start(1);
    const provider = new LlamaProvider({ urls: [fake.url], warmsPrefixes: true });
    const calls = `${readFixture("openai-chat", "tool-calls").map(frame).join("")}data: [DONE]\n\n`;
    const callTools = ({ response }: AskedChat): void => void beginStream(response).end(calls);
    const working = ask(provider, generation);
    const waiting = ask(provider, generation);
    callTools(await fake.chat(0));
    await working;
    // The slot goes to who waits, and not to reading ahead.
    const second = await fake.chat(1);
    expect(second.body).not.toHaveProperty("n_predict");
    callTools(second);
    await waiting;
    const ahead = await fake.chat(2);
    expect(ahead.body).toMatchObject({ n_predict: 0, stream: false });
    expect(ahead.body.messages.slice(-3)).toMatchObject([
      { role: "assistant", content: "Let me look.", tool_calls: [{ id: "call_1" }, { id: "call_2" }] },
      { role: "tool", tool_call_id: "call_1", content: "" },
      { role: "tool", tool_call_id: "call_2", content: "" },
    ]);
    const ended = once(ahead.response, "close");
    const last = ask(provider, batch);
    await ended;
    answerChat(await fake.chat(3));
    expect(textIn(await last)).toBe("Hello, world.");
    expect(fake.chats).toHaveLength(4);
  });

  it("that ends in the middle of an answer is asked what it is before it gets another", async () => {
    const fake = await FakeLlama.start(1);
    const provider = new LlamaProvider({ urls: [fake.url] });
    const deltas: Delta[] = [];
    const asked = collect(
      provider.generate(generation, new AbortController().signal, () => undefined),
      deltas,
    );
    const first = await fake.chat(0);
    beginChat(first);
    await expect.poll(() => textIn(deltas)).not.toBe("");
    const [instance] = await provider.pool.instances();
    const hashes = [...instance!.groups[0]!.leases][0]!.request.blocks.hashes;
    expect(instance!.groups[0]!.held.matched(hashes)).toBe(hashes.length);
    first.response.destroy();
    await expect(asked).rejects.toMatchObject({ reason: "connection_lost" });
    expect(instance!.groups[0]!.held.matched(hashes)).toBe(0);
    fake.fixed["/props"] = { total_slots: 3 };
    fake.onChat = answerChat;
    await ask(provider, generation);
    expect(instance!.slots).toBe(3);
  });

  it("that is a router has slots and context for each of its models", async () => {
    const listed = (id: string, value: string, failed?: boolean) => ({ id, status: { value, failed } });
    const fake = await FakeLlama.start(0, {
      "/props": { role: "router", max_instances: 4, default_generation_settings: { n_ctx: 0 } },
      "/v1/models": { data: [listed("a", "loaded"), listed("b", "unloaded"), listed("broken", "unloaded", true)] },
      "/props?model=a&autoload=false": { total_slots: 2, default_generation_settings: { n_ctx: 16_384 }, endpoint_slots: true },
      "/slots?model=a&autoload=false": [{ is_processing: false }],
    });
    const provider = new LlamaProvider({ urls: [fake.url] });
    expect((await provider.list()).map(({ name, contextWindow }) => `${name} ${contextWindow}`)).toEqual(["a 16384", "b 4096"]);
    const asked = ["a", "b", "a", "a", "b"].map((model) => ask(provider, { ...generation, model }));
    await fake.chat(2);
    expect(fake.chats.map(({ body }) => body.model).toSorted()).toEqual(["a", "a", "b"]);
    for (let number = 0; number < 5; number++) answerChat(await fake.chat(number));
    await Promise.all(asked);
  });
});

describe("who is served first", () => {
  it("takes interactive requests before batch, and lets a batch request that has said nothing give way", async () => {
    const fake = await FakeLlama.start(2);
    const provider = new LlamaProvider({ urls: [fake.url] });
    const heard: Delta[] = [];
    const spoken = collect(
      provider.generate(batch, new AbortController().signal, () => undefined),
      heard,
    );
    beginChat(await fake.chat(0));
    await expect.poll(() => textIn(heard)).not.toBe("");
    const interactive = ask(provider, { ...generation, messages: [said("user", "Now?")] });
    const waiting = ask(provider, { ...batch, messages: [said("user", "Whenever.")] });
    const next = ask(provider, { ...generation, messages: [said("user", "And now?")] });
    answerChat(await fake.chat(1));
    await interactive;
    answerChat(await fake.chat(2));
    await next;
    expect(fake.chats.map(({ body }) => body.messages.at(-1)!.content)).toEqual(["Hello?", "Now?", "And now?"]);
    endChat(fake.chats[0]!);
    expect(textIn(await spoken)).toBe("Hello, world.");
    quietSince(3_000);
    const silent = await fake.chat(3);
    const gone = new Promise((resolve) => silent.response.once("close", resolve));
    const urgent = ask(provider, generation);
    await gone;
    answerChat(await fake.chat(4));
    await urgent;
    quietSince(6_000);
    answerChat(await fake.chat(5));
    expect(textIn(await waiting)).toBe("Hello, world.");
    expect(fake.chats.slice(3).map(({ body }) => body.messages.at(-1)!.content)).toEqual(["Whenever.", "Hello?", "Whenever."]);
  });

  it("says so where every slot belongs to another gateway, rather than wait for one", async () => {
    const fake = await FakeLlama.start(1);
    fake.onChat = answerChat;
    const gateways = [0, 1].map((index) => new LlamaProvider({ urls: [fake.url], replica: { index, count: 2 } }));
    const ended = await Promise.allSettled(gateways.map((gateway) => ask(gateway, generation)));
    const refused = ended.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
    expect(refused).toEqual([expect.objectContaining({ reason: "no_slots", class: "permanent" })]);
  });

  it("serves people in turn, however many requests one of them has", async () => {
    const fake = await FakeLlama.start(1);
    const provider = new LlamaProvider({ urls: [fake.url] });
    const from = (fairShare: string) => ask(provider, { ...generation, fairShare, messages: [said("user", fairShare)] });
    const asked = ["ada", "ada", "ada", "ada", "ben", "ben"].map(from);
    const usage = { prompt_tokens: 120, completion_tokens: 1, total_tokens: 121 };
    for (let number = 0; number < 6; number++) {
      const { response } = await fake.chat(number);
      const whole = { choices: [{ delta: { content: "?" }, finish_reason: "stop" }], usage };
      beginStream(response).end(`${frame(JSON.stringify(whole))}data: [DONE]\n\n`);
    }
    await Promise.all(asked);
    const order = fake.chats.map(({ body }) => body.messages.at(-1)!.content);
    expect(order.slice(0, 5).filter((who) => who === "ben")).toHaveLength(2);
  });

  it("sends a conversation where its beginning is", async () => {
    const fakes = [await FakeLlama.start(2), await FakeLlama.start(2)];
    for (const fake of fakes) fake.onChat = answerChat;
    const provider = new LlamaProvider({ urls: fakes.map(({ url }) => url) });
    const conversation = (name: string, turns: number) =>
      ask(provider, { ...generation, messages: Array.from({ length: turns }, (_, turn) => said("user", `${name} ${turn} `.repeat(200))) });
    for (let turn = 1; turn < 5; turn++) for (const name of ["one", "other"]) await conversation(name, turn);
    const who = fakes.map(({ chats }) => [...new Set(chats.map(({ body }) => body.messages[0]!.content.split(" ")[0]))]);
    expect(new Set(who.flat())).toEqual(new Set(["one", "other"]));
    expect(fakes.map(({ chats }) => chats.length)).toEqual([4, 4]);
  });
});

describe("what a server says that it took from its cache", () => {
  const texts = ["shared ".repeat(300), "one ".repeat(300), "other ".repeat(300)] as const;
  const conversation = (...parts: readonly string[]): Generation => ({ ...generation, messages: parts.map((text) => said("user", text)) });
  const expectedOf = (group: SlotGroup, of: Generation): number => group.held.matched(new PoolRequest(of).blocks.hashes);

  it("corrects what is expected of it, for every conversation that began alike", async () => {
    const fake = await FakeLlama.start(3);
    let cached = 0;
    fake.onChat = ({ response }) => {
      const usage = { prompt_tokens: 1_000, completion_tokens: 1, total_tokens: 1_001, prompt_tokens_details: { cached_tokens: cached } };
      const whole = { choices: [{ delta: { content: "?" }, finish_reason: "stop" }], usage };
      beginStream(response).end(`${frame(JSON.stringify(whole))}data: [DONE]\n\n`);
    };
    const provider = new LlamaProvider({ urls: [fake.url] });
    const [one, other] = [conversation(texts[0], texts[1]), conversation(texts[0], texts[2])];
    await ask(provider, one);
    cached = 500;
    await ask(provider, other);
    const group = (await provider.pool.instances())[0]!.groups[0]!;
    const whole = new PoolRequest(other).blocks.hashes.length;
    expect(expectedOf(group, other)).toBe(whole);
    // The server had nothing of a conversation that it was thought to have: nor has it the other, which began alike.
    cached = 0;
    await ask(provider, one);
    expect(expectedOf(group, other)).toBeLessThan(whole);
    expect(expectedOf(group, one)).toBe(new PoolRequest(one).blocks.hashes.length);
  });
});

describe("where servers come from", () => {
  it("reads a file again when it changes, and lets a server that vanished from it finish", async () => {
    const [one, other] = [await FakeLlama.start(1), await FakeLlama.start(1)];
    const file = join(mkdtempSync(join(tmpdir(), "hlvm-pool-")), "servers");
    writeFileSync(file, `# ours\n${one.url}\n`);
    const provider = new LlamaProvider({ urls: [], urlsFile: file });
    const working = ask(provider, generation);
    const first = await one.chat(0);
    writeFileSync(file, `${other.url}\n`);
    later();
    other.onChat = answerChat;
    await ask(provider, generation);
    expect(await drains(provider)).toEqual([undefined, "vanished"]);
    answerChat(first);
    expect(textIn(await working)).toBe("Hello, world.");
    expect(one.chats).toHaveLength(1);
    expect((await provider.pool.instances()).map(({ url }) => url)).toEqual([other.url]);
    writeFileSync(file, "no url\n");
    later();
    await ask(provider, generation);
    expect(provider.pool.problem).toContain("no URL: no url");
  });

  it("finds a server at each address of a name, and keeps them while the name cannot be resolved", async () => {
    const fake = await FakeLlama.start(1);
    fake.onChat = answerChat;
    const provider = new LlamaProvider({ urls: [`dns+${fake.url.replace("127.0.0.1", "localhost")}`] });
    expect(textIn(await ask(provider, generation))).toBe("Hello, world.");
    expect((await provider.pool.instances()).map(({ url }) => url)).toContain(fake.url);
    const nowhere = new LlamaProvider({ urls: ["dns+http://no-such-name.invalid:1"] });
    await expect(ask(nowhere, generation)).rejects.toMatchObject({
      reason: "no_servers",
      message: expect.stringContaining("no-such-name"),
    });
  });
});
