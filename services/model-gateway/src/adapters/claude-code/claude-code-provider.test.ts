import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Delta, Generation, GenerationOptions } from "../../domain/generation.ts";
import { recordedClaude, StandInClaude, type Played } from "../../testing/stand-in-claude.ts";
import { ask, generationOf, said, textIn, tools } from "../suite/generations.ts";
import { ClaudeCodeProvider } from "./claude-code-provider.ts";

const TOKEN = "sk-ant-oat01-of-the-suite";
/** Of a machine that has much else to do: alone it takes about 10. */
const MOST_MILLISECONDS_AFTER_CANCEL = 1_000;
const standIn = new StandInClaude();
const provider = () => new ClaudeCodeProvider({ path: standIn.path, token: TOKEN, environment: { PATH: process.env.PATH!, TZ: "UTC" } });
const plain = (options: Partial<Generation> = {}): Generation => ({
  ...generationOf("claude-opus-5-5", [said("user", "Hello?")]),
  tools: [],
  ...options,
});
const failed = (result: object, error: string): readonly string[] => [
  JSON.stringify({ type: "assistant", error, message: {} }),
  JSON.stringify({ type: "result", is_error: true, ...result }),
];

beforeAll(() => standIn.start());
afterAll(() => standIn.stop());

describe("claude as a process", () => {
  it("starts alone, with what was said before in its order, and leaves nothing", async () => {
    standIn.play({ lines: recordedClaude("text") });
    const before = foldersLeft();
    const messages = [
      said("system", "You help."),
      said("system", "Memory."),
      said("user", "One?"),
      said("assistant", "Two."),
      said("system", "Be brief."),
      said("user", "Three?"),
    ];
    const deltas = await ask(provider(), plain({ messages, effort: "maximum", maximumOutputTokens: 77 }));
    expect(textIn(deltas)).toBe("Hello, world.");
    expect(deltas.at(-2)).toEqual({ kind: "usage", input: 10, output: 5, cacheRead: 90, cacheWrite: 7, reasoning: 0 });
    const { words, environment, system, folder, files, lines, pid, child } = await standIn.started;
    expect(words).toEqual(expect.arrayContaining(["--print", "--tools=", "--strict-mcp-config", "--setting-sources=", "--effort=max"]));
    expect(words).toContain("--model=claude-opus-5-5");
    expect([system, files]).toEqual(["You help.\n\nMemory.", []]);
    expect(words.join()).not.toContain("You help.");
    const { HOME, CLAUDE_CONFIG_DIR, TMPDIR, ...others } = environment;
    for (const path of [HOME, CLAUDE_CONFIG_DIR, TMPDIR]) expect(path!.startsWith(`${dirname(folder)}/`)).toBe(true);
    expect(others).toMatchObject({ TZ: "UTC", CLAUDE_CODE_OAUTH_TOKEN: TOKEN, CLAUDE_CODE_MAX_OUTPUT_TOKENS: "77" });
    expect(Object.keys(others).filter((name) => !/^(?:CLAUDE_CODE_|DISABLE_|PATH$|TZ$)/.test(name))).toEqual([]);
    expect(lines.map((line) => [line.type, line.shouldQuery])).toEqual([
      ["user", false],
      ["assistant", undefined],
      ["user", false],
      ["user", undefined],
    ]);
    expect(JSON.stringify(lines[2])).toContain("<system-reminder>");
    expect(foldersLeft()).toBe(before);
    await expect.poll(() => [pid, child].filter(isAlive)).toEqual([]);
  });

  it("is ended with all that it has started as soon as its caller leaves", async () => {
    standIn.play({ lines: recordedClaude("text").slice(0, 5) });
    const cancelled = new AbortController();
    const ended = ask(provider(), plain(), cancelled.signal).catch((thrown: unknown) => thrown);
    const { pid, child, folder } = await standIn.started;
    expect([pid, child].every(isAlive)).toBe(true);
    const at = performance.now();
    cancelled.abort();
    expect(await ended).toMatchObject({ class: "abort" });
    expect(performance.now() - at).toBeLessThan(MOST_MILLISECONDS_AFTER_CANCEL);
    // Whoever is nobody's child any more is reaped by init.
    await expect.poll(() => [pid, child].filter(isAlive)).toEqual([]);
    expect(existsSync(dirname(folder))).toBe(false);
  });

  it("takes what was said until a length or a refusal for the answer, and not what the program says after it by itself", async () => {
    const text = recordedClaude("text");
    const atLength = text.map((line) => line.replace('"stop_reason":"end_turn"', '"stop_reason":"max_tokens"'));
    standIn.play({ lines: [...atLength.slice(0, -2), ...atLength] });
    const deltas = await ask(provider(), plain());
    expect(textIn(deltas)).toBe("Hello, world.");
    expect(deltas.slice(-2)).toMatchObject([{ kind: "usage", output: 5 }, { reason: "length" }]);
    standIn.play({ lines: recordedClaude("refusal") });
    expect((await ask(provider(), plain())).at(-1)).toMatchObject({ reason: "refusal" });
  });

  const begun = recordedClaude("text").slice(0, 6);
  const [inMiddle, afterIt] = failed({ api_error_type: "api_error", result: "API Error" }, "unknown");
  const ended = recordedClaude("text")
    .slice(8, -1)
    .map((line) => line.replace("end_turn", "max_tokens"));
  const faults: readonly (readonly [string, Played, object])[] = [
    ["nobody is logged in", { lines: failed({ result: "Not logged in" }, "authentication_failed") }, { reason: "not_logged_in" }],
    ["it is limited", { lines: failed({ api_error_status: 429, result: "slow" }, "rate_limit") }, { class: "rate_limit" }],
    ["it is given too much", { lines: failed({ result: "Prompt is too long" }, "invalid_request") }, { class: "context_overflow" }],
    [
      "the API fails in the middle, and it ends the message all the same",
      { lines: [...begun, inMiddle!, ...ended, afterIt!] },
      { class: "transient" },
    ],
    ["it says nothing of its end", { lines: recordedClaude("text").slice(0, -1), exitCode: 0 }, { reason: "process_ended" }],
    ["it writes what is no JSON", { lines: [...begun, "Segmentation fault"] }, { reason: "stream_malformed" }],
    ["it is killed", { lines: begun, complaint: `out of memory, with ${TOKEN}`, exitCode: 137 }, { reason: "process_ended" }],
    ["a line has no end", { lines: ["x".repeat(13 * 1024 * 1024)] }, { reason: "answer_too_long" }],
  ];

  it.each(faults)("says so where %s", async (_what, played, error) => {
    const whole =
      played.lines.length > begun.length && played.exitCode === undefined && played.lines.some((line) => line.includes("api_error"));
    standIn.play(whole ? { lines: [...played.lines, ...failed({ api_error_type: "api_error" }, "unknown").slice(1)] } : played);
    const seen: Delta[] = [];
    const thrown: unknown = await (async () => {
      for await (const delta of provider().generate(plain(), new AbortController().signal, () => undefined)) seen.push(delta);
    })().catch((each: unknown) => each);
    expect(thrown).toMatchObject({ provider: "claude-code", ...error });
    expect((thrown as Error).message).not.toContain(TOKEN);
    expect(seen.some(({ kind }) => kind === "finish")).toBe(false);
  });

  it("says so where it is not installed", async () => {
    const nowhere = new ClaudeCodeProvider({ path: "/nowhere/claude", token: "", environment: {} });
    await expect(ask(nowhere, plain())).rejects.toMatchObject({ reason: "claude_not_installed", class: "permanent" });
  });

  it("is not started for what it cannot do", async () => {
    const nowhere = new ClaudeCodeProvider({ path: "/nowhere/claude", token: "", environment: {} });
    const called = { kind: "tool-call", id: "1", tool: "t", argumentsJson: "{}" } as const;
    const impossible: readonly (GenerationOptions & Partial<Generation>)[] = [
      { tools },
      { stopSequences: ["END"] },
      { serviceTier: "priority" },
      { outputFormat: { name: "a", strict: true } },
      { model: "--dangerously-skip-permissions" },
      { messages: [said("user", "?"), said("assistant", "!")] },
      { messages: [{ role: "assistant", parts: [called] }, said("user", "?")] },
    ];
    for (const options of impossible)
      await expect(ask(nowhere, plain(options))).rejects.toMatchObject({ class: "permanent", reason: "request_not_supported" });
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function foldersLeft(): number {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("hlvm-claude-")).length;
}
