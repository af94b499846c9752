import { existsSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** What stands beside the bundle of a program. All paths are relative to the checkout. */
export interface BundleRecord {
  readonly bundle: string;
  /** All files that it was made of, or that decided which these are, each with its `fileMark` from before it was read. */
  readonly sources: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PROGRAM = /^services\/([^/]+)\/src\/main\.ts$/;

/**
 * What a program is started from: its bundle, which loads in a quarter of the time, where `npm start` has made one of the very
 * sources that lie there now; else its main module.
 * @param main absolute path of `services/NAME/src/main.ts`
 */
export function bundledMain(main: string, root: string = ROOT): string {
  const record = readRecord(main, root);
  if (record === undefined) return main;
  const bundle = join(root, record.bundle);
  const isFresh = existsSync(bundle) && Object.entries(record.sources).every(([path, mark]) => fileMark(join(root, path)) === mark);
  return isFresh ? bundle : main;
}

/** Where the record of this program's bundle is. @throws TypeError where it is no program that is bundled */
export function bundleRecordFile(main: string, root: string = ROOT): string {
  const name = PROGRAM.exec(relative(root, main))?.[1];
  if (name === undefined) throw new TypeError(`${main} is not the main module of a service`);
  return join(root, "dist", `${name}.json`);
}

/** Differs where a file was written anew; undefined where there is none. */
export function fileMark(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.mtimeMs} ${found.size}`;
}

function readRecord(main: string, root: string): BundleRecord | undefined {
  try {
    return JSON.parse(readFileSync(bundleRecordFile(main, root), "utf8")) as BundleRecord;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT" || cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}
