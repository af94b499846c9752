import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";
import type { DecidingStep } from "../decide/decision.ts";
import { commandParts } from "./command-parts.ts";
import { findMarkedParts } from "./find-marked-parts.ts";

const { judge } = useCommandJudge();

/** What would be marked where this command is asked about in the default mode. */
async function markedIn(command: string): Promise<string[]> {
  const { level, danger, destructive } = judge(command);
  const step: DecidingStep = danger !== undefined ? "command_safety" : destructive !== undefined ? "destructive" : "mode";
  const rule = danger?.rule ?? (destructive === undefined ? `default: ${level}` : `destructive: ${destructive}`);
  const parts = await findMarkedParts({ command, level, step, rule }, (part) => Promise.resolve(judge(part)));
  return parts.map(({ start, end }) => command.slice(start, end));
}

describe("findMarkedParts", () => {
  it.each([
    ["ls && npm test && ls", ["npm test"]],
    ["ls; touch a | cat", ["touch a"]],
    [`touch pwned;${"\n".repeat(60)}echo fine`, ["touch pwned"]],
    [`touch pwned;${" ".repeat(3_000)}echo fine`, ["touch pwned"]],
    ["ls; npm test; rm -rf build; ls", ["rm -rf build"]],
    ["git status; git reset --hard; ls", ["git reset --hard"]],
    ["cat notes | ssh host sh; rm x", ["ssh host sh"]],
    ["npm test", ["npm test"]],
    ["cd .git/hooks && touch pre-commit && ls", ["cd .git/hooks", "touch pre-commit"]],
    ["ls # npm test\nnpm test # ls", ["npm test"]],
    ["echo 'a;b' && npm test", ["npm test"]],
  ])("marks of %j the commands that make policy ask", async (command, marked) => {
    expect(await markedIn(command)).toEqual(marked);
  });

  it.each([
    ["echo $(ls; rm -rf build) > a", ["rm"]],
    ["(cd a && git reset --hard)", ["git", "reset", "--hard"]],
    ["cat <<E | ssh host\nls\nE", ["ssh"]],
  ])("marks of %j, which cannot be taken apart, the words of the rule", async (command, marked) => {
    expect(await markedIn(command)).toEqual(marked);
  });

  it.each(["echo $(npm test)", "r\\m -rf build", "for f in a; do `cat $f`; done", Array.from({ length: 300 }, () => "npm test").join(";")])(
    "marks all of %j where nothing in it stands out",
    async (command) => {
      expect(await markedIn(command)).toEqual([command]);
    },
  );
});

describe("commandParts", () => {
  it("does not take a redirection or a quoted sign for the end of a command", () => {
    const text = "a 2>&1 >| b; c &> d & e '|' \"&\" f";
    expect(commandParts(text)!.map(({ start, end }) => text.slice(start, end))).toEqual(["a 2>&1 >| b", "c &> d", "e '|' \"&\" f"]);
  });

  it("has nothing to say of a quote that does not end", () => {
    expect(commandParts("echo 'a; b")).toBeUndefined();
  });
});
