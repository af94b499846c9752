import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../domain/generation.ts";
import type { Provider } from "../../domain/provider.ts";
import { ask, generationOf, said } from "./generations.ts";
import { frame, protocols } from "./protocols.ts";
import { beginStream, errorReply, readFixture, ReplayServer } from "./replay-server.ts";

const never = new AbortController().signal;
const call = { kind: "tool-call", id: "c1", tool: "read_file", argumentsJson: '{"path":"a"}' } as const;
const conversation: readonly Message[] = [
  said("system", "Prefix."),
  said("system", "# Your Memory"),
  said("user", "Hello?"),
  { role: "assistant", parts: [call] },
  { role: "tool", parts: [{ kind: "tool-result", id: "c1", tool: "read_file", content: "a line", isError: false }] },
];

const countFixture = (folder: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../../fixtures/${folder}/count.json`, import.meta.url)), "utf8"));

const counting = protocols.flatMap((protocol) =>
  protocol.counts === undefined ? [] : [{ ...protocol, countPath: protocol.counts.path, fields: protocol.counts.fields }],
);

it("is left out by whoever speaks for servers that cannot count ahead", () => {
  const silent = protocols.filter(({ counts }) => counts === undefined);
  expect(silent.map(({ provider, create }) => [provider, "countTokens" in create("http://127.0.0.1:1")])).toEqual([
    ["openai-compatible", false],
  ]);
});

describe.each(counting)("$provider counts a request ahead", (protocol) => {
  const server = new ReplayServer(protocol.fixed);
  const generation = generationOf(protocol.model, conversation);
  let provider: Provider;

  beforeAll(async () => {
    provider = protocol.create(await server.start());
  });
  afterAll(() => server.stop());

  const count = (signal = never): Promise<number | undefined> => provider.countTokens!(generation, signal);
  const folder = protocol.provider === "llama" ? "llama" : protocol.folder;

  it("as it will be sent, and nothing of how it is to be answered", async () => {
    server.play(errorReply(200, countFixture(folder)));
    expect(await count()).toBe(217);
    const counted = server.requests[0]!;
    expect(counted.path).toBe(protocol.countPath);
    const body = JSON.parse(counted.body) as Record<string, unknown>;
    expect(Object.keys(body).toSorted()).toEqual(protocol.fields.toSorted());

    server.play((response) => void beginStream(response).end(readFixture(protocol.folder, "text").map(frame).join("") + protocol.closing));
    await ask(provider, generation);
    const sent = JSON.parse(server.requests[0]!.body) as Record<string, unknown>;
    expect(body).toEqual(Object.fromEntries(protocol.fields.map((field) => [field, sent[field]])));
    const { authorization } = counted.headers;
    expect(authorization).toBe(server.requests[0]!.headers.authorization);
  });

  it("once: what fails is the caller's to know", async () => {
    server.play(errorReply(429, protocol.errorBody("rate_limit_error", null, "Slow down")));
    await expect(count()).rejects.toMatchObject({ class: "rate_limit" });
    expect(server.requests).toHaveLength(1);
  });

  it("and takes nothing else for a count", async () => {
    server.play(errorReply(200, { input_tokens: "many" }));
    await expect(count()).rejects.toMatchObject({ reason: "count_malformed" });
    server.play((response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>"));
    await expect(count()).rejects.toMatchObject({ class: expect.stringMatching(/transient|permanent/) });
  });

  it("until its caller goes away", async () => {
    const cancelled = new AbortController();
    server.play(() => cancelled.abort());
    await expect(count(cancelled.signal)).rejects.toMatchObject({ class: "abort" });
    await server.requests[0]!.gone;
  });
});
