import { applyPatch } from "diff";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unifiedDiff } from "./unified-diff.ts";

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

describe("unifiedDiff", () => {
  it("shows a change with three lines around it", () => {
    const text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expect(unifiedDiff("n.txt", text, placesOf(text, "5"), "5", "five")).toBe(
      ["--- a/n.txt", "+++ b/n.txt", "@@ -2,7 +2,7 @@", " 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"].join("\n"),
    );
  });

  it("is a patch that gives the edited text, whatever is replaced by whatever", () => {
    const piece = fc.stringMatching(/^[ab\n]{1,4}$/);
    const text = fc.stringMatching(/^[abc\n]{0,120}$/);
    fc.assert(
      fc.property(text, piece, fc.stringMatching(/^[abx\n]{0,6}$/), (before, oldText, newText) => {
        const places = placesOf(before, oldText);
        fc.pre(places.length > 0 && oldText !== newText);
        const after = before.split(oldText).join(newText);
        expect(applyPatch(before, `${unifiedDiff("f", before, places, oldText, newText)}\n`)).toBe(after);
      }),
      { numRuns: 2_000 },
    );
  });
});
