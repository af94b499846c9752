import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Delta } from "../../domain/generation.ts";
import type { Provider } from "../../domain/provider.ts";
import { ask, generationOf, said, textIn } from "./generations.ts";
import { frame, protocols } from "./protocols.ts";
import { beginStream, errorReply, readLines, ReplayServer } from "./replay-server.ts";

/** What hosted providers really sent; beside the repository where it is there. */
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

  it.each(streams.filter(([name]) => !name.includes("error")))("%s", async (name, file) => {
    expect(outcomeOf(await play(file))).toMatchObject({ kind: "finish", ...EXPECTED[name] });
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
