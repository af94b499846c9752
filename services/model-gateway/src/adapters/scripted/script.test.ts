import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { ask, generationOf, partsOf, said, textIn } from "../suite/generations.ts";
import { readScript } from "./script.ts";
import { ScriptedProvider } from "./scripted-provider.ts";

const folder = mkdtempSync(join(tmpdir(), "script-"));
afterAll(() => rmSync(folder, { recursive: true }));

function written(text: string): string {
  const path = join(folder, "script.json");
  writeFileSync(path, text);
  return path;
}

it("plays the turn that the conversation has come to, and confesses in the answer", async () => {
  const turns = [{ toolCalls: [{ tool: "t", arguments: { a: 1 } }] }, { text: "Done." }];
  const provider = new ScriptedProvider(readScript(written(JSON.stringify({ conversations: [{ match: "go", turns }] }))));
  const play = (...messages: Parameters<typeof generationOf>[1]) => ask(provider, generationOf("script", messages));
  const first = await play(said("user", "go on"));
  expect(first[0]).toMatchObject({ kind: "tool-call", tool: "t", argumentsJson: '{"a":1}' });
  const second = await play(said("user", "go on"), said("assistant", ""), said("tool", ""), said("system", "by the way"));
  expect(textIn(second)).toBe("Done.\n\n(Played from a script; no model was asked.)");
  await expect(play(said("user", "stop"))).rejects.toMatchObject({ class: "permanent", reason: "script_has_no_turn" });
});

it("refuses what its window does not hold, and goes on where a conversation was shortened", async () => {
  const call = { tool: "t", arguments: {} };
  const turns = [{ toolCalls: [call] }, { toolCalls: [call] }, { text: "Done." }];
  const script = { contextWindow: 200, conversations: [{ match: "go", turns }] };
  const provider = new ScriptedProvider(readScript(written(JSON.stringify(script))));
  expect(await provider.describe("script")).toMatchObject({ contextWindow: 200 });
  const long = generationOf("script", [said("user", `go ${"x".repeat(500)}`)]);
  await expect(ask(provider, long)).rejects.toMatchObject({ class: "context_overflow" });
  const first = await ask(provider, generationOf("script", [said("user", "go")]));
  const second = await ask(provider, generationOf("script", [said("user", "go"), partsOf(first), said("tool", "")]));
  const third = await ask(provider, generationOf("script", [said("user", "go"), partsOf(second), said("tool", "")]));
  expect(textIn(third)).toContain("Done.");
});

it.each(["", "[]", '{"conversations": [], "contextWindow": "16K"}', '{"conversations": [{"match": 1}]}'])(
  "says what is wrong with a script: %j",
  (text) => {
    expect(() => readScript(written(text))).toThrow(
      expect.objectContaining({ reason: "script_not_readable", advice: expect.stringContaining("HLVM_SCRIPT_FILE") }),
    );
  },
);

it("says that there is no such file", () => {
  expect(() => readScript(join(folder, "none.json"))).toThrow(/ENOENT/);
});
