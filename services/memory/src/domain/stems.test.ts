import { describe, expect, it } from "vitest";
import { stemsOf } from "./stems.ts";

describe("stemsOf", () => {
  it("brings forms of a word together and leaves out what says nothing", () => {
    expect(stemsOf("How are the migrations running?")).toEqual(stemsOf("migration run"));
    expect(stemsOf("why is it so")).toEqual([]);
  });

  it("splits paths and identifiers at what is neither letter nor digit", () => {
    expect(stemsOf("src/build-tool.ts")).toEqual(stemsOf("src build tool ts"));
  });

  it("takes letters of any script, in one form", () => {
    expect(stemsOf("Füße")).toEqual(stemsOf("fu\u0308ße"));
  });
});
