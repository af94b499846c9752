import { describe, expect, it } from "vitest";
import { slotOf, textKeyOf } from "./fact-keys.ts";

describe("textKeyOf", () => {
  it("does not see case, blanks and closing punctuation", () => {
    expect(textKeyOf("Tests run  with\nvitest.")).toBe(textKeyOf("tests run with vitest"));
  });

  it("sees numbers, negations and who does what", () => {
    const keys = ["Use port 80", "Use port 81", "Do not use port 80", "Evan plans with Sam", "Sam plans with Evan"].map(textKeyOf);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("slotOf", () => {
  it("is the same for the same property of the same subject", () => {
    expect(slotOf("This Repository", "default_branch")).toBe(slotOf("this  repository ", "Default_Branch"));
    expect(slotOf("a", "b")).not.toBe(slotOf("b", "a"));
  });

  it("is empty where either half is", () => {
    expect(slotOf("repository", " ")).toBe("");
    expect(slotOf("", "default_branch")).toBe("");
  });
});
