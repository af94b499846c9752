import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCommand } from "../../testing/arbitrary-command.ts";
import { useCommandJudge } from "../../testing/use-command-judge.ts";
import { createCommandJudge } from "./judge-command.ts";
import { literalWords } from "./literal-words.ts";

const { judge, levelOf } = useCommandJudge();
const WRITERS = /^(rm|xargs|bash|mv|dd|ln)$/;

describe("generated commands", () => {
  it("never make the judge throw, and are judged alike with spaces behind them", () => {
    const property = fc.property(arbitraryCommand, fc.integer({ min: 1, max: 4 }), (command, spaces) => {
      const { level, danger, destructive } = judge(command);
      expect(judge(command + " ".repeat(spaces))).toMatchObject({ level });
      return level === "L2" || (danger === undefined && destructive === undefined);
    });
    expect(() => fc.assert(property, { numRuns: 1_000 })).not.toThrow();
  });

  it("are read at most once by each parser", () => {
    let readings = 0;
    const judgeCounting = createCommandJudge(
      [1, 2].map(() => (command) => {
        readings += 1;
        return literalWords(command);
      }),
    );
    const property = fc.property(arbitraryCommand, (command) => {
      readings = 0;
      judgeCounting(command);
      return readings <= 2;
    });
    expect(() => fc.assert(property, { numRuns: 1_000 })).not.toThrow();
  });

  it("are read in one pass, however often they start something that they do not end", () => {
    const rows = ["1,2 p; ", " ;", "/[[[", "s/\\a[a]", '"\\', "/[a]", "%(", "{a}", "[a", "a/b ", "$1 "];
    for (const row of rows) {
      for (const start of ["sed '", "awk '", "git log '", 'echo "', "ls "]) {
        const quote = /['"]$/.exec(start)?.[0] ?? "";
        expect(() => judge(start + row.repeat(Math.ceil(4_000 / row.length)) + quote)).not.toThrow();
      }
    }
  });

  it("are no longer L0 with a part that writes, wherever it stands", () => {
    const writer = fc.constantFrom("rm a.txt", "ls > out", "xxd -ps a.txt main.ts", "tree -PI -- x -o out", "sort -uo out a.txt");
    const joint = fc.constantFrom(" && ", "; ", " | ", " || ");
    const property = fc.property(arbitraryCommand, writer, joint, fc.boolean(), (command, last, between, isLast) =>
      isLast ? levelOf(command + between + last) === "L2" : levelOf(last + between + command) === "L2",
    );
    expect(() => fc.assert(property, { numRuns: 500 })).not.toThrow();
  });

  it("are in good part L0, for whoever runs those where nothing may change", () => {
    const commands = fc.sample(arbitraryCommand, { numRuns: 2_000, seed: 1 });
    const harmless = commands.filter((command) => levelOf(command) === "L0");
    console.log(`${harmless.length} of ${commands.length} generated commands are L0`);
    expect(harmless.length / commands.length).toBeGreaterThan(0.3);
    expect(new Set(harmless.map((command) => command.split(" ")[0])).size).toBeGreaterThan(50);
    const programs = harmless.flatMap((command) => literalWords(command)!.map(({ words }) => words[0]!.text));
    expect(programs.filter((program) => WRITERS.test(program))).toEqual([]);
  });
});
