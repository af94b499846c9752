import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";

/** A file of another program, which may be a link and may change at any time. */
export class SettingsFile {
  readonly path: string;
  /** As it was read; undefined where there is none. */
  readonly bytes: Buffer | undefined;

  /** @throws HlvmError `settings_not_readable` */
  constructor(path: string) {
    this.path = path;
    try {
      const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
      this.bytes = isThere ? readFileSync(path) : undefined;
    } catch (cause) {
      throw settingsNotReadable(path, cause);
    }
  }

  /**
   * Puts something else in its place, whole or not at all; a link stays one, and its mode what it is.
   * @param bytes undefined: it goes
   * @throws HlvmError `settings_changed`, `settings_not_writable`
   */
  replace(bytes: Buffer | undefined): void {
    if (!same(new SettingsFile(this.path).bytes, this.bytes))
      throw new HlvmError({
        code: "failed_precondition",
        reason: "settings_changed",
        message: `${this.path} was changed by somebody else just now.`,
        advice: "Run the command again.",
      });
    try {
      const target = this.bytes === undefined ? this.path : realpathSync(this.path);
      if (bytes === undefined) return rmSync(target, { force: true });
      writeBeside(target, bytes, this.bytes === undefined ? 0o600 : statSync(target).mode & 0o7777);
    } catch (cause) {
      throw new HlvmError({
        code: "failed_precondition",
        reason: "settings_not_writable",
        message: `${this.path} cannot be written: ${messageOf(cause)}.`,
        advice: "It is as it was. Make its folder writable and run the command again.",
        cause,
      });
    }
  }
}

export function settingsNotReadable(path: string, cause: unknown): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "settings_not_readable",
    message: `${path} cannot be read as settings: ${messageOf(cause)}.`,
    advice: "Nothing was changed. Mend the file and run the command again.",
    cause,
  });
}

/** Either of them is there afterwards, whatever happens in between. */
function writeBeside(target: string, bytes: Buffer, mode: number): void {
  const draft = `${target}.hlvm-${process.pid}`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, target);
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw thrown;
  }
}

function same(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}
