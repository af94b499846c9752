import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Delta } from "../../domain/generation.ts";
import type { Provider } from "../../domain/provider.ts";
import { recordedContent } from "./recorded-content.ts";
import { ask, generationOf, said, textIn } from "./generations.ts";
import { frame, protocols } from "./protocols.ts";
import { beginStream, errorReply, readLines, ReplayServer } from "./replay-server.ts";

/**
 * What hosted providers really sent; beside the repository where it is there. Those of the folder `google` are of Gemini's own
 * protocol, which nobody here speaks: Google is asked for chat completions.
 */
const RECORDINGS = fileURLToPath(new URL("../../../../../../shared/data/wire", import.meta.url));
const reason = existsSync(RECORDINGS) ? "" : ` (skipped: there is no ${RECORDINGS})`;

/** What a recording has to come to; the others only have to come to a proper end. */
const EXPECTED: Readonly<Record<string, Partial<Outcome>>> = {
  "anthropic-text": {
    text: expect.stringMatching(/^Hello! I'm doing well/),
    usage: expect.objectContaining({ input: 12, output: 30 }),
    reason: "stop",
  },
  "anthropic-clear-thinking.1": { text: "925 ÷ 5 = 185", thinking: expect.stringMatching(/^The previous result was 925/), reason: "stop" },
  "anthropic-refusal": { reason: "refusal", detail: expect.stringContaining("violative cyber content") },
  "anthropic-tool-no-args": { calls: [["updateIssueList", "{}"]], reason: "tool-calls" },
  "anthropic-message-delta-input-tokens": { text: "pong", usage: expect.objectContaining({ input: 61, output: 2 }) },
  "anthropic-fallback": { text: expect.stringMatching(/^The printing press/), usage: expect.objectContaining({ input: 412, output: 264 }) },
  "openai-text": { usage: expect.objectContaining({ input: 16, output: 300 }), reason: "stop" },
  "xai-tool-call": {
    calls: [["weather", '{"location":"San Francisco"}']],
    usage: expect.objectContaining({ input: 1, cacheRead: 306, output: 253, reasoning: 227 }),
  },
  "anthropic-fallback-tool-call": { text: "Reading it.", calls: [["read_file", '{"path": "a.txt"}']], reason: "tool-calls" },
};

/** After these nothing of an answer comes any more. */
const ENDED = /"type":"message_stop"|"type":"response\.(completed|incomplete)"|"finish_reason":"\w+"[^]*"usage":\{/;

interface Outcome {
  readonly kind: string | undefined;
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly (readonly [string, string])[];
  readonly usage: unknown;
  readonly reason: string | undefined;
  readonly detail: string | undefined;
}

function outcomeOf(deltas: readonly Delta[]): Outcome {
  const finish = deltas.findLast((delta) => delta.kind === "finish");
  return {
    kind: deltas.at(-1)?.kind,
    text: textIn(deltas),
    thinking: deltas.flatMap((delta) => (delta.kind === "thinking" ? [delta.text] : [])).join(""),
    calls: deltas.flatMap((delta) => (delta.kind === "tool-call" ? [[delta.tool, delta.argumentsJson] as const] : [])),
    usage: deltas.find(({ kind }) => kind === "usage"),
    reason: finish?.reason,
    detail: finish?.detail,
  };
}

describe.skipIf(reason !== "").each(protocols)(`recordings played to $provider${reason}`, (protocol) => {
  const server = new ReplayServer(protocol.fixed);
  const generation = generationOf(protocol.model, [said("user", "Hello?")]);
  let provider: Provider;

  beforeAll(async () => {
    provider = protocol.create(await server.start());
  });
  afterAll(() => server.stop());

  const files =
    reason !== ""
      ? []
      : protocol.recordings.flatMap((folder) => readdirSync(join(RECORDINGS, folder)).map((file) => join(RECORDINGS, folder, file)));
  const streams = files
    .filter((file) => /\.chunks\.txt$|\.sse$/.test(file))
    .map((file) => [file.replace(/^.*\/|\.chunks\.txt$|\.sse$/g, ""), file] as const);
  const errors = files.filter((file) => /error.*\.json$/.test(file)).map((file) => [file.replace(/^.*\//, ""), file] as const);

  const play = (file: string) => {
    const body = file.endsWith(".sse") ? readFileSync(file, "utf8") : readLines(file).map(frame).join("") + protocol.closing;
    server.play((response) => void beginStream(response).end(body));
    return ask(provider, generation);
  };

  const whole = streams.filter(([name]) => !name.includes("error"));
  it.each(whole)("%s", async (name, file) => {
    const deltas = await play(file);
    expect(outcomeOf(deltas)).toMatchObject({ kind: "finish", ...EXPECTED[name] });
    if (file.endsWith(".sse")) return;
    const recorded = recordedContent(
      protocol.recordings.find((folder) => file.includes(`/${folder}/`))!,
      readLines(file),
    );
    expect(deltas.flatMap((delta) => (delta.kind === "tool-call" ? [delta.id] : []))).toEqual(recorded.calls);
    // What separates messages and parts of reasoning is ours.
    expect(textIn(deltas).replaceAll("\n\n", "")).toBe(recorded.text.replaceAll("\n\n", ""));
    const thought = deltas.flatMap((delta) => (delta.kind === "thinking-delta" ? [delta.text] : [])).join("");
    expect(thought.replaceAll("\n\n", "")).toBe(recorded.thinking.replaceAll("\n\n", ""));
    const usage = deltas.find((delta) => delta.kind === "usage");
    expect(usage?.output).toBe(recorded.outputTokens);
  });

  /** The same events in pieces that end anywhere, and as many of their bytes as are wanted. */
  const playPieces = (file: string, cuts: readonly number[], share: number) => {
    const body = Buffer.from(readLines(file).map(frame).join("") + protocol.closing);
    const end = Math.floor(body.length * share);
    const ends = [...new Set([...cuts.map((cut) => Math.floor(cut * end)), end])].toSorted((one, other) => one - other);
    server.play(async (response) => {
      beginStream(response);
      let from = 0;
      for (const to of ends) {
        await new Promise((written) => response.write(body.subarray(from, to), written));
        from = to;
      }
      if (share === 1) response.end();
      else response.destroy();
    });
    return { asked: ask(provider, generation), sent: body.subarray(0, end).toString() };
  };
  const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 });

  it.each(whole.filter(([, file]) => !file.endsWith(".sse")))("%s, in pieces that end anywhere, says the same", async (_, file) => {
    const expected = outcomeOf(await play(file));
    await fc.assert(
      fc.asyncProperty(places, async (cuts) => {
        expect(outcomeOf(await playPieces(file, cuts, 1).asked)).toEqual(expected);
      }),
      { numRuns: 3 },
    );
  });

  it.each(whole.filter(([, file]) => !file.endsWith(".sse")))("%s, cut anywhere before its end, is no whole answer", async (_, file) => {
    await fc.assert(
      fc.asyncProperty(places, fc.double({ min: 0.01, max: 0.99, noNaN: true }), async (cuts, share) => {
        const { asked, sent } = playPieces(file, cuts, share);
        const deltas = await asked.catch(() => []);
        const isFinished = deltas.some(({ kind }) => kind === "finish");
        expect(isFinished && !ENDED.test(sent)).toBe(false);
      }),
      { numRuns: 5 },
    );
  });

  const failing = streams.filter(([name]) => name.includes("error"));
  it.runIf(failing.length > 0).each(failing)("%s in mid-stream", async (_name, file) => {
    await expect(play(file)).rejects.toMatchObject({ class: "permanent", reason: "quota_spent" });
  });

  it.runIf(errors.length > 0).each(errors)("%s as a refusal", async (_name, file) => {
    server.play(errorReply(400, JSON.parse(readFileSync(file, "utf8"))));
    await expect(ask(provider, generation)).rejects.toMatchObject({ class: "permanent" });
  });
});
