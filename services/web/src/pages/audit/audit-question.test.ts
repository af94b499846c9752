import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressOf, flagsOf, lineOf, questionOfAddress, questionOfLine, readsWholeLog, type AuditQuestion } from "./audit-question.ts";

const text = fc.string({ minLength: 1, unit: "grapheme" }).filter((one) => one.trim() === one && !/[\n\r]/.test(one));
const question = fc
  .record(
    {
      tool: text,
      decision: fc.constantFrom("allow", "ask", "deny"),
      level: fc.constantFrom("L0", "L2"),
      rule: text,
      path: text,
      since: fc.constantFrom("7d", "30m", "2026-11-21T10:00:00.000Z", "all"),
      text,
    },
    { requiredKeys: [] },
  )
  .filter((one) => Object.keys(one).length > 0);

describe("a question to the audit log", () => {
  it("is the same as a line of text and as an address, both ways", () => {
    fc.assert(
      fc.property(question, (one: AuditQuestion) => {
        expect(questionOfLine(lineOf(one))).toEqual(one);
        expect(questionOfAddress(addressOf(one, new URLSearchParams("view=counts")))).toEqual(one);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is written as somebody would", () => {
    const line = 'tool:shell_exec decision:deny since:7d "rm -rf"';
    const one = { tool: "shell_exec", decision: "deny", since: "7d", text: "rm -rf" };
    expect(questionOfLine(line)).toEqual(one);
    expect(lineOf(one)).toBe(line);
    expect(questionOfLine("rm  -rf tool:shell_exec")).toEqual({ tool: "shell_exec", text: "rm -rf" });
    expect(flagsOf(one)).toBe(" --tool shell_exec --decision deny --since 7d --text 'rm -rf'");
    expect(flagsOf({ since: "all", text: "it's" })).toBe(String.raw` --text 'it'\''s'`);
  });

  it.each([
    ["colour:red", /no field "colour"/],
    ["decision:maybe", /allow, ask, deny/],
    ["session:abc", /36 characters/],
    ["since:soon", /no time/],
  ])("says what is wrong with %s", (line, problem) => {
    expect(questionOfLine(line)).toEqual({ problem: expect.stringMatching(problem) as string });
  });

  it("leaves out of an address what cannot be asked, and asks an empty one for the last days", () => {
    expect(questionOfAddress(new URLSearchParams("decision=maybe&tool=x"))).toEqual({ tool: "x" });
    expect(questionOfAddress(new URLSearchParams("view=tail"))).toEqual({ since: "7d" });
    expect(addressOf({}, new URLSearchParams()).toString()).toBe("since=all");
  });

  it("says whether it reads the whole log", () => {
    expect(readsWholeLog({ since: "all", tool: "shell_exec" })).toBe(true);
    expect(readsWholeLog({ since: "7d" })).toBe(false);
    expect(readsWholeLog({ session: "s" })).toBe(false);
  });
});
