import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "@hlvm/mesh/make-folder";

/** What a tool's settings were before we came, so that they can be that again to the last byte. */
export interface InstallRecord {
  readonly at: string;
  /** Undefined where there was no such file. */
  readonly before: Buffer | undefined;
  /** SHA-256 of what we wrote, and of what we wrote before that: as long as it is one of them, nobody has changed it since. */
  readonly written: readonly string[];
}

interface Kept {
  readonly at?: string;
  readonly before?: string | null;
  readonly written?: string[];
}

/** Kept in `hooks` of the HLVM directory, for its owner alone: settings may hold secrets. */
export class InstallRecords {
  readonly #folder: string;

  constructor(directory: string) {
    this.#folder = join(directory, "hooks");
  }

  /** @returns undefined where there is none that can be read */
  read(settings: string): InstallRecord | undefined {
    try {
      const { at, before, written } = JSON.parse(readFileSync(this.#fileOf(settings), "utf8")) as Kept;
      if (typeof at !== "string" || !Array.isArray(written) || before === undefined) return undefined;
      return { at, before: before === null ? undefined : Buffer.from(before, "base64"), written };
    } catch {
      return undefined;
    }
  }

  /** @throws Error of the file system */
  write(settings: string, { at, before, written }: InstallRecord): void {
    makeFolder(this.#folder);
    const file = this.#fileOf(settings);
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, JSON.stringify({ settings, at, before: before?.toString("base64") ?? null, written }), { mode: 0o600 });
    renameSync(draft, file);
  }

  remove(settings: string): void {
    rmSync(this.#fileOf(settings), { force: true });
  }

  #fileOf(settings: string): string {
    return join(this.#folder, `before-${sha256(settings).slice(0, 16)}.json`);
  }
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
