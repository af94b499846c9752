import { expect, it } from "vitest";
import { promptGate } from "./prompt-gate.ts";

it.each([
  ["empty", ["", "  \n", "…", "?!", "\u200b"]],
  ["command", ["/help", " /review:all now", "/compact\nfoo"]],
  ["harness", ["<command-name>/clear</command-name>", "[Request interrupted by user]", "<task-notification>done"]],
  [
    "generative",
    ["write a haiku about autumn", "Please draft some slogans", "brainstorm names", "come up with ten names for a cat", "tell me a joke"],
  ],
  [
    "asked",
    [
      "how do we deploy?",
      "write a migration for the users table",
      "create a test like last time",
      "write a README.md",
      "generate some fixtures for parseOrder",
      "/etc/hosts is wrong",
      "why is it slow?",
      "design our schema",
      "写一首诗",
      "fix",
    ],
  ],
] as const)("%s", (gate, prompts) => {
  expect(prompts.map((prompt) => [prompt, promptGate(prompt)])).toEqual(prompts.map((prompt) => [prompt, gate]));
});

it("takes no longer with a prompt made to be slow", () => {
  const begun = performance.now();
  for (const text of ["please write a ", "<command-", "a_", "/a:", "Aa", " "]) promptGate(text.repeat(1024 * 64));
  expect(performance.now() - begun).toBeLessThan(1_000);
});
