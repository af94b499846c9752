import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findBwrap } from "./find-bwrap.ts";

const directory = mkdtempSync(join(tmpdir(), "hlvm-bwrap-"));
const own = join(directory, "bin", "bwrap");
const installed = join(directory, "usr", "bwrap");

afterAll(() => rmSync(directory, { recursive: true }));

describe("findBwrap", () => {
  it("takes the installed one, else our own, else none", () => {
    expect(findBwrap(directory, join(directory, "usr"))).toEqual({});
    for (const [file, folder] of [
      [own, "bin"],
      [installed, "usr"],
    ] as const) {
      mkdirSync(join(directory, folder));
      writeFileSync(file, "", { mode: 0o755 });
    }
    expect(findBwrap(directory, `/nowhere:${join(directory, "usr")}`)).toEqual({ HLVM_BWRAP: installed });
    expect(findBwrap(directory, "/nowhere")).toEqual({ HLVM_BWRAP: own });
  });

  it("takes none from the folder that it happens to be called in", () => {
    expect(findBwrap("/nowhere", ".:usr")).toEqual({});
  });
});
