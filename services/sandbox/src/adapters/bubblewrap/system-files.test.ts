import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { testLog } from "@hlvm/testing/test-log";
import { SystemFiles } from "./system-files.ts";

const ALTERNATIVES = "/etc/alternatives";

it("has the machine's alternatives of programs, as the links that they are, and none of manual pages", () => {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-system-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const etc = new SystemFiles(folder, Buffer.from("filter"), testLog).etc(undefined);
  const linksIn = (path: string): string[] =>
    existsSync(path) ? readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isSymbolicLink() ? [entry.name] : [])) : [];
  const links = linksIn(join(etc, "alternatives"));
  expect(links.toSorted()).toEqual(
    linksIn(ALTERNATIVES)
      .filter((name) => !name.endsWith(".gz"))
      .toSorted(),
  );
  for (const name of links) expect(readlinkSync(join(etc, "alternatives", name))).toBe(readlinkSync(join(ALTERNATIVES, name)));
});
