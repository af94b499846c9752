import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { presentFile } from "./present-file.ts";

let folder: string;
let workspace: string;

beforeEach(() => {
  folder = temporaryFolder();
  workspace = join(folder, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(workspace, "a.txt"), "grüße\n");
  writeFileSync(join(folder, "secret"), "secret");
});

describe("presentFile", () => {
  it.each(["a.txt", "./a.txt", "/workspace/a.txt"])("reads what stands at %s", (path) => {
    expect(presentFile(workspace, path)).toEqual({ bytes: 8, text: "grüße\n" });
  });

  it("reads a path as the machine outside has it", () => {
    expect(presentFile(workspace, join(workspace, "a.txt"))?.text).toBe("grüße\n");
  });

  it("knows only the size of what is no text, or large", () => {
    writeFileSync(join(workspace, "image"), Buffer.from([0x89, 0xff, 0]));
    writeFileSync(join(workspace, "zeros"), "a\0");
    writeFileSync(join(workspace, "large"), "");
    truncateSync(join(workspace, "large"), 3_000_000);
    expect(["image", "zeros", "large"].map((path) => presentFile(workspace, path))).toEqual([
      { bytes: 3, text: undefined },
      { bytes: 2, text: undefined },
      { bytes: 3_000_000 },
    ]);
  });

  it("looks at nothing outside, at no folder, and waits for no pipe", () => {
    symlinkSync(join(folder, "secret"), join(workspace, "link"));
    mkdirSync(join(workspace, "below"));
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    for (const path of ["link", "../secret", join(folder, "secret"), "below", "pipe", "missing", "", "/workspace/../secret"])
      expect(presentFile(workspace, path)).toBeUndefined();
    expect(presentFile(join(folder, "missing"), "a.txt")).toBeUndefined();
  });
});
