import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Provider } from "../../domain/provider.ts";
import { collect, generationOf, said, textIn } from "./generations.ts";
import { frame, protocols } from "./protocols.ts";
import { beginStream, errorReply, readLines, ReplayServer } from "./replay-server.ts";

/** What hosted providers really sent; beside the repository where it is there. */
const RECORDINGS = fileURLToPath(new URL("../../../../../../shared/data/wire", import.meta.url));
const reason = existsSync(RECORDINGS) ? "" : ` (skipped: there is no ${RECORDINGS})`;

/** What a recording has to come to; the others only have to come to a proper end. */
const EXPECTED: Readonly<Record<string, object>> = {
  "anthropic-text": { text: /^Hello! I'm doing well/, usage: { input: 12, output: 30 }, reason: "stop" },
  "anthropic-clear-thinking.1": { text: /925 ÷ 5 = 185/, thinking: /^The previous result was 925/, reason: "stop" },
  "anthropic-refusal": { reason: "refusal", detail: /violative cyber content/ },
  "anthropic-tool-no-args": { calls: [["updateIssueList", "{}"]], reason: "tool-calls" },
  "anthropic-message-delta-input-tokens": { text: /^pong$/, usage: { input: 61, output: 2 } },
  "anthropic-fallback": { text: /^The printing press/, usage: { input: 412, output: 264 } },
  "openai-text": { usage: { input: 16, output: 300 }, reason: "stop" },
  "xai-tool-call": { calls: [["weather", '{"location":"San Francisco"}']], usage: { input: 1, cacheRead: 306, output: 253, reasoning: 227 } },
  "anthropic-fallback-tool-call": { text: /^Reading it\.$/, calls: [["read_file", '{"path": "a.txt"}']], reason: "tool-calls" },
};

interface Outcome {
  readonly text?: RegExp;
  readonly thinking?: RegExp;
  readonly detail?: RegExp;
  readonly calls?: readonly (readonly [string, string])[];
  readonly usage?: object;
  readonly reason?: string;
}

describe.skipIf(reason !== "").each(protocols)(`recordings played to $provider${reason}`, (protocol) => {
  const server = new ReplayServer(protocol.fixed);
  const generation = generationOf(protocol.model, [said("user", "Hello?")]);
  let provider: Provider;

  beforeAll(async () => {
    provider = protocol.create(await server.start());
  });
  afterAll(() => server.stop());

  const files = reason !== "" ? [] : protocol.recordings.flatMap((folder) => readdirSync(join(RECORDINGS, folder)).map((file) => join(RECORDINGS, folder, file)));
  const streams = files.filter((file) => /\.chunks\.txt$|\.sse$/.test(file)).map((file) => [file.replace(/^.*\/|\.chunks\.txt$|\.sse$/g, ""), file] as const);
  const errors = files.filter((file) => /error.*\.json$/.test(file)).map((file) => [file.replace(/^.*\//, ""), file] as const);

  it.each(streams)("%s", async (name, file) => {
    const body = file.endsWith(".sse") ? readFileSync(file, "utf8") : readLines(file).map(frame).join("") + protocol.closing;
    server.play((response) => void beginStream(response).end(body));
    const played = collect(provider.generate(generation, new AbortController().signal));
    if (name.includes("error")) return expect(played).rejects.toMatchObject({ class: "permanent", reason: "quota_spent" });
    const deltas = await played;
    const expected: Outcome = EXPECTED[name] ?? {};
    const finish = deltas.at(-1);
    expect(finish?.kind).toBe("finish");
    if (expected.reason !== undefined) expect(finish).toMatchObject({ reason: expected.reason });
    if (expected.detail !== undefined) expect(finish).toMatchObject({ detail: expect.stringMatching(expected.detail) });
    if (expected.text !== undefined) expect(textIn(deltas)).toMatch(expected.text);
    if (expected.thinking !== undefined) expect(deltas.find(({ kind }) => kind === "thinking")).toMatchObject({ text: expect.stringMatching(expected.thinking) });
    if (expected.usage !== undefined) expect(deltas.find(({ kind }) => kind === "usage")).toMatchObject(expected.usage);
    if (expected.calls !== undefined)
      expect(deltas.flatMap((delta) => (delta.kind === "tool-call" ? [[delta.tool, delta.argumentsJson]] : []))).toEqual(expected.calls);
  });

  it.runIf(errors.length > 0).each(errors)("%s as a refusal", async (_name, file) => {
    server.play(errorReply(400, JSON.parse(readFileSync(file, "utf8"))));
    await expect(collect(provider.generate(generation, new AbortController().signal))).rejects.toMatchObject({ class: "permanent" });
  });
});
