import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generate } from "../../domain/generate.ts";
import type { AnswerEvent } from "../../domain/generation.ts";
import { ModelError } from "../../domain/model-error.ts";
import type { Provider } from "../../domain/provider.ts";
import { installedClaude, recordedClaude, StandInClaude } from "../../testing/stand-in-claude.ts";
import { ClaudeCodeProvider } from "../claude-code/claude-code-provider.ts";
import { ScriptedProvider } from "../scripted/scripted-provider.ts";
import { ask, collect, generationOf, said, targetOf, textIn } from "./generations.ts";
import { frame, protocols, type Protocol } from "./protocols.ts";
import { beginStream, readFixture, ReplayServer } from "./replay-server.ts";

/** What every provider has to be able to play, whatever it is made of. */
type Scenario = "text" | "tool-calls" | "thinking" | "refusal" | "cut" | "hang";

interface Subject {
  readonly name: string;
  /** Left out: it calls tools. */
  readonly isToolless?: boolean;
  readonly model: string;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** "cut" cuts where the test says so, which lets what was written arrive before. */
  readonly play: (scenario: Scenario, cut?: Promise<void>) => Provider;
  /** Settles when "hang" hangs. */
  readonly hangs: () => Promise<void>;
}

type Spoken = Pick<Protocol, "provider" | "model" | "folder" | "create" | "fixed" | "closing">;

function overHttp(protocol: Spoken): Subject {
  const server = new ReplayServer(protocol.fixed);
  let provider: Provider;
  let hanging = Promise.withResolvers<void>();
  return {
    name: protocol.provider,
    model: protocol.model,
    start: async () => {
      provider = protocol.create(await server.start());
    },
    stop: () => server.stop(),
    hangs: () => hanging.promise,
    play: (scenario, cut) => {
      hanging = Promise.withResolvers();
      const lines = readFixture(protocol.folder, scenario === "cut" || scenario === "hang" ? "text" : scenario);
      server.play(async (response) => {
        beginStream(response);
        const isWhole = scenario !== "cut" && scenario !== "hang";
        for (const line of isWhole ? lines : lines.slice(0, -2)) response.write(frame(line));
        if (isWhole) response.end(protocol.closing);
        if (scenario === "hang") response.write(": nothing more comes\n\n", () => hanging.resolve());
        if (scenario === "cut") await cut?.then(() => response.destroy());
      });
      return provider;
    },
  };
}

const anthropic = protocols.find(({ provider }) => provider === "anthropic")!;
const claude = installedClaude();
const claudeSettings = { token: "token-of-the-suite", environment: { PATH: process.env.PATH! } };
/** The real program, whose provider says what Anthropic's says. */
const installed: readonly Subject[] =
  claude === undefined
    ? []
    : [
        {
          ...overHttp({
            ...anthropic,
            provider: "claude-code, installed",
            create: (baseUrl) => new ClaudeCodeProvider({ ...claudeSettings, path: claude, baseUrl }),
          }),
          isToolless: true,
        },
      ];

const standIn = new StandInClaude();
const recorded: Subject = {
  name: "claude-code, recorded",
  model: anthropic.model,
  isToolless: true,
  start: () => standIn.start(),
  stop: () => Promise.resolve(standIn.stop()),
  hangs: () => standIn.started.then(() => undefined),
  play: (scenario) => {
    const isCut = scenario === "cut";
    const isWhole = scenario === "thinking" || scenario === "refusal" || scenario === "text";
    const lines = recordedClaude(isWhole ? scenario : "text");
    // Its message is whole then, and its answer is not.
    standIn.play({ lines: isWhole ? lines : lines.slice(0, -1), ...(isCut ? { exitCode: 0 } : {}) });
    return new ClaudeCodeProvider({ ...claudeSettings, path: standIn.path });
  },
};

const scripted: Subject = {
  name: "scripted",
  model: "script",
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  // Its delay begins when it is asked.
  hangs: () => Promise.resolve(),
  play: (scenario) => {
    const turns = {
      text: { text: "Hello, world." },
      "tool-calls": {
        text: "Let me look.",
        toolCalls: [
          { tool: "read_file", arguments: '{"path": "a.txt"}' },
          { tool: "list_files", arguments: {} },
        ],
      },
      thinking: { thinking: "Two and two is four.", text: "4" },
      refusal: { refusal: "This is not allowed." },
      cut: { text: "Hello, wor", cut: true },
      hang: { delayMilliseconds: 60_000 },
    };
    return new ScriptedProvider({ conversations: [{ match: "", turns: [turns[scenario]] }] });
  },
};

describe.each([...protocols.map(overHttp), recorded, ...installed, scripted])(
  "$name",
  ({ model, isToolless, start, stop, play, hangs }) => {
    const never = new AbortController().signal;
    const asked = generationOf(model, [said("system", "You help."), said("user", "Hello?")]);
    const generation = isToolless === true ? { ...asked, tools: [] } : asked;

    beforeAll(start);
    afterAll(stop);

    it("streams a text in pieces, then usage, then the end", async () => {
      const deltas = await ask(play("text"), generation);
      expect(textIn(deltas)).toMatch(/^Hello, world\./);
      expect(deltas.at(-2)).toMatchObject({ kind: "usage", output: expect.toSatisfy((count: number) => count > 0) });
      expect(deltas.at(-1)).toEqual({ kind: "finish", reason: "stop", detail: "" });
    });

    it.skipIf(isToolless)("gives whole tool calls with ids of their own", async () => {
      const deltas = await ask(play("tool-calls"), generation);
      const calls = deltas.filter((delta) => delta.kind === "tool-call");
      expect(calls.map(({ tool, argumentsJson }) => [tool, JSON.parse(argumentsJson)])).toEqual([
        ["read_file", { path: "a.txt" }],
        ["list_files", {}],
      ]);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
      expect(textIn(deltas)).toBe("Let me look.");
      expect(deltas.at(-1)).toMatchObject({ reason: "tool-calls" });
    });

    it("streams thinking, then the whole of it, before the answer", async () => {
      const deltas = await ask(play("thinking"), generation);
      const kinds = deltas.map(({ kind }) => kind);
      expect(deltas.flatMap((delta) => (delta.kind === "thinking-delta" ? [delta.text] : [])).join("")).toBe("Two and two is four.");
      expect(deltas.find(({ kind }) => kind === "thinking")).toMatchObject({ text: "Two and two is four." });
      expect(kinds.indexOf("thinking")).toBeGreaterThan(kinds.lastIndexOf("thinking-delta"));
      expect(kinds.indexOf("text")).toBeGreaterThan(kinds.indexOf("thinking"));
    });

    it("tells a refusal in the provider's words", async () => {
      const deltas = await ask(play("refusal"), generation);
      expect(deltas.at(-1)).toEqual({ kind: "finish", reason: "refusal", detail: "This is not allowed." });
    });

    it("ends a cut stream with an error after what came", async () => {
      const seen: AnswerEvent[] = [];
      const shown = Promise.withResolvers<void>();
      const options = { signal: never, remainingMilliseconds: undefined, onRetry: () => undefined };
      const run = async (): Promise<void> => {
        for await (const delta of generate(targetOf("p", play("cut", shown.promise), generation.model), generation, options)) {
          seen.push(delta);
          shown.resolve();
        }
      };
      await expect(run()).rejects.toMatchObject({ class: "transient" });
      expect(textIn(seen)).toMatch(/^Hello/);
      expect(seen.some(({ kind }) => kind === "finish")).toBe(false);
    });

    it("ends when its caller leaves, not when the provider does", async () => {
      const cancelled = new AbortController();
      const run = collect(
        generate(targetOf("p", play("hang"), generation.model), generation, {
          signal: cancelled.signal,
          remainingMilliseconds: undefined,
          onRetry: () => undefined,
        }),
      );
      const ended = run.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      await hangs();
      cancelled.abort();
      const error = await ended;
      expect(error).toBeInstanceOf(ModelError);
      expect(error).toMatchObject({ class: "abort" });
    });
  },
);
