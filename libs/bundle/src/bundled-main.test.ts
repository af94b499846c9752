import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { bundledMain, bundleRecordFile, fileMark, type BundleRecord } from "./bundled-main.ts";

const MAIN = "services/policy/src/main.ts";
const SOURCES = [MAIN, "libs/grant/src/grant.ts"];
const BUNDLE = "dist/1/policy.js";

/** A checkout in which policy has a bundle of its sources. */
function checkout(): { root: string; main: string } {
  const root = mkdtempSync(join(tmpdir(), "hlvm-bundle-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const path of [...SOURCES, BUNDLE]) write(path, "one");
  const record: BundleRecord = { bundle: BUNDLE, sources: Object.fromEntries(SOURCES.map((path) => [path, fileMark(join(root, path))!])) };
  const main = join(root, MAIN);
  write("dist/policy.json", JSON.stringify(record));
  return { root, main };
}

it("is the bundle of these very sources", () => {
  const { root, main } = checkout();
  expect(bundledMain(main, root)).toBe(join(root, BUNDLE));
});

it.each<[string, (root: string) => void]>([
  ["a source has another size", (root) => writeFileSync(join(root, SOURCES[1]!), "longer")],
  ["a source has another time", (root) => utimesSync(join(root, SOURCES[1]!), 1, 1)],
  ["a source is gone", (root) => rmSync(join(root, SOURCES[1]!))],
  ["the bundle is gone", (root) => rmSync(join(root, BUNDLE))],
  ["there is no record", (root) => rmSync(join(root, "dist/policy.json"))],
  ["the record is cut off", (root) => writeFileSync(join(root, "dist/policy.json"), '{"bundle":')],
])("is the main module where %s", (_, change) => {
  const { root, main } = checkout();
  change(root);
  expect(bundledMain(main, root)).toBe(main);
});

it("is of no use for what is not a program", () => {
  const { root } = checkout();
  expect(() => bundleRecordFile(join(root, "libs/grant/src/grant.ts"), root)).toThrow("is not the main module of a service");
});
