import { chmodSync, existsSync, lstatSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { makeFolder } from "@hlvm/mesh/make-folder";

const OTHERS = 0o077;

/** Tells a person what was found amiss and put right. */
export type Notice = (line: string) => void;

/**
 * Makes a folder that only its owner can enter; one that others could enter is closed to them, said aloud.
 * @throws HlvmError `not_the_owner`, also for a link that somebody else has put there
 */
export function keepPrivateFolder(path: string, notice: Notice): void {
  refuseForeign(path);
  makeFolder(path);
  closeToOthers(path, 0o700, notice);
}

/**
 * The text of a file that only its owner can read; `make` gives the text where the file is missing.
 * @throws HlvmError `not_the_owner`
 */
export async function keepPrivateFile(path: string, make: () => string | Promise<string>, notice: Notice): Promise<string> {
  refuseForeign(path);
  if (!existsSync(path)) writePrivateFile(path, await make());
  closeToOthers(path, 0o600, notice);
  return readFileSync(path, "utf8");
}

/** Writes the whole file or nothing, readable by its owner only. */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

function closeToOthers(path: string, mode: number, notice: Notice): void {
  refuseForeign(path);
  const { mode: found } = statSync(path);
  if ((found & OTHERS) === 0) return;
  chmodSync(path, mode);
  notice(`${path} was open to other users (mode ${(found & 0o777).toString(8)}); it is closed to them now.`);
}

/** What belongs to another user, or is a link that does or that leads to what does. */
function refuseForeign(path: string): void {
  for (const look of [lstatSync, statSync]) {
    const uid = look(path, { throwIfNoEntry: false })?.uid;
    if (uid === undefined || uid === process.geteuid?.()) continue;
    throw new HlvmError({
      code: "failed_precondition",
      reason: "not_the_owner",
      message: `${path} belongs to another user (number ${uid}).`,
      advice: "Set HLVM_DIR to a folder of your own.",
    });
  }
}
