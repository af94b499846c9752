import { describe, expect, it } from "vitest";
import { checkArguments } from "./check-arguments.ts";
import { definitionHash } from "./definition-hash.ts";
import { findNativeTool, nativeTools } from "./native-tools.ts";

const edit = findNativeTool("edit_file")!;

describe("checkArguments", () => {
  it("tells the model which arguments are wrong and what the tool takes", () => {
    const check = (): void => checkArguments(edit, { path: 7, old_text: "a", file: "x" });
    expect(check).toThrow('edit_file: argument "new_text" is missing; there is no argument "file"; argument "path" must be string.');
    expect(() => checkArguments(edit, {})).toThrow(
      expect.objectContaining({ reason: "invalid_arguments", advice: expect.stringContaining("replace_all?: boolean") }),
    );
  });

  it("lets right arguments through", () => {
    expect(() => checkArguments(edit, { path: "a", old_text: "b", new_text: "" })).not.toThrow();
  });

  it("has a schema for every tool that compiles", () => {
    for (const tool of nativeTools) expect(() => checkArguments(tool, { surely_unknown: 1 })).toThrow("surely_unknown");
  });
});

describe("definitionHash", () => {
  it("changes with any part of a definition", () => {
    expect(definitionHash({ ...edit })).toBe(definitionHash(edit));
    expect(definitionHash({ ...edit, description: `${edit.description} ` })).not.toBe(definitionHash(edit));
  });
});
