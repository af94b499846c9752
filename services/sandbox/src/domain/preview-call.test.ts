import { applyPatch } from "diff";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { previewCall } from "./preview-call.ts";

const ofTexts = (before: string, after: string) =>
  previewCall({ preview: () => Promise.resolve({ failure: "", presentSha256: "", presentBytes: 0n, before, after }) }, "write_file", "{}");

describe("the preview of a call", () => {
  it("tells enough of a changed text to make the new one of the old one", async () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "", " d", "-e", "+f"), { maxLength: 20 }).map((some) => some.join("\n"));
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        const { diff } = await ofTexts(before, after);
        expect(diff === "").toBe(before === after);
        expect(diff === "" ? before : applyPatch(before, `--- a\n+++ a\n${diff}\n`)).toBe(after);
      }),
    );
  });

  it("tells nothing of texts that have little in common, and of what no database keeps", async () => {
    expect((await ofTexts("x\n".repeat(3_000), "y\n".repeat(3_000))).diff).toBe("");
    expect((await ofTexts("a\n", "a\0\n")).diff).toBe("");
  });
});
