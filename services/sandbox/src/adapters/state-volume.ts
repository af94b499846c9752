import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The id of a state directory, made by the first process that looks for it: all that share the directory get the same. */
export function stateVolume(stateDirectory: string): string {
  const path = join(stateDirectory, "volume");
  const own = `${path}-${randomUUID()}`;
  writeFileSync(own, randomUUID(), { mode: 0o600 });
  try {
    linkSync(own, path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  } finally {
    rmSync(own);
  }
  return readFileSync(path, "utf8");
}
