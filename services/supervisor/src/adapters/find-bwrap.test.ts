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
    expect(findBwrap(directory, { PATH: join(directory, "usr") })).toEqual({});
    for (const [file, folder] of [
      [own, "bin"],
      [installed, "usr"],
    ] as const) {
      mkdirSync(join(directory, folder));
      writeFileSync(file, "", { mode: 0o755 });
    }
    expect(findBwrap(directory, { PATH: `/nowhere:${join(directory, "usr")}` })).toEqual({ HLVM_BWRAP: installed });
    expect(findBwrap(directory, { PATH: "/nowhere", HLVM_BWRAP: "" })).toEqual({ HLVM_BWRAP: own });
  });

  it("takes the one that a person has set over all others, even one that is not there", () => {
    const environment = { PATH: join(directory, "usr"), HLVM_BWRAP: "/opt/bwrap" };
    expect(findBwrap(directory, environment)).toEqual({ HLVM_BWRAP: "/opt/bwrap" });
  });

  it("takes none from the folder that it happens to be called in", () => {
    expect(findBwrap("/nowhere", { PATH: ".:usr" })).toEqual({});
  });
});
