import { describe, expect, it } from "vitest";
import { exitMeaning } from "./exit-meaning.ts";

describe("exitMeaning", () => {
  it.each([
    ["grep -r foo .", 1, true, "grep found no match"],
    ["cat a | /usr/bin/grep foo", 1, true, "grep found no match"],
    ["diff a b", 1, true, "the files differ"],
    ["grep -r foo .", 2, false, ""],
    ["make && grep foo x", 1, false, ""],
    ["grep foo x | wc -l", 1, false, ""],
    ["nosuch", 127, false, "the command was not found"],
    ["true", 0, true, ""],
  ])("%s with code %i", (command, exitCode, succeeded, words) => {
    expect(exitMeaning(command, exitCode)).toEqual({ succeeded, words });
  });
});
