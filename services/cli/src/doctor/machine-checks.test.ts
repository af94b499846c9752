import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bubblewrapCheck } from "./machine-checks.ts";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-doctor-"));
  mkdirSync(join(directory, "bin"));
});
afterAll(() => rmSync(directory, { recursive: true }));

function bwrap(name: string, says: string): string {
  const file = join(directory, name);
  writeFileSync(file, `#!/bin/sh\necho ${says}\n`, { mode: 0o755 });
  return file;
}

describe("the check of bubblewrap", () => {
  it("looks at the one that HLVM_BWRAP names, whatever else there is", async () => {
    bwrap("bin/bwrap", "bubblewrap 0.8.0");
    const chosen = bwrap("chosen", "bubblewrap 9.9.9");
    expect(await bubblewrapCheck(chosen, directory)).toMatchObject({ result: "ok", detail: "bubblewrap 9.9.9" });
    expect(await bubblewrapCheck("/nowhere/bwrap", directory)).toMatchObject({
      result: "fail",
      detail: "/nowhere/bwrap is not there",
      advice: expect.stringContaining("HLVM_BWRAP"),
    });
  });
});
