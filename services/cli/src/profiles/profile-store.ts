import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** An edge elsewhere, and who is logged in there. */
export interface Profile {
  readonly url: string;
  readonly principal: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Of the access token, ISO 8601. */
  readonly expiresAt: string;
}

export interface Profiles {
  /** Used where nothing else is said; empty: the mesh of this machine. */
  readonly current: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Names the mesh of this machine wherever a profile could be named. */
export const LOCAL = "local";
const NONE: Profiles = { current: "", profiles: {} };
const LOCK_MILLISECONDS = 15_000;
const LOOK_MILLISECONDS = 50;

/** `profiles.json` in the HLVM directory, which nobody else can read. */
export class ProfileStore {
  readonly #file: string;
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.#file = join(directory, "profiles.json");
  }

  /** @throws HlvmError `profiles_not_readable` */
  read(): Profiles {
    try {
      return { ...NONE, ...(JSON.parse(readFileSync(this.#file, "utf8")) as Partial<Profiles>) };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return NONE;
      throw new HlvmError({
        code: "failed_precondition",
        reason: "profiles_not_readable",
        message: `${this.#file} cannot be read: ${(cause as Error).message}.`,
        advice: "Mend it or delete it, and run `hlvm login URL` again.",
        cause,
      });
    }
  }

  /** The one that is named, else the current one; undefined for the mesh of this machine. @throws HlvmError `profile_not_found` */
  chosen(name: string): { readonly name: string; readonly profile: Profile } | undefined {
    const { current, profiles } = this.read();
    const wanted = name === "" ? current : name;
    if (wanted === "" || wanted === LOCAL) return undefined;
    const profile = profiles[wanted];
    if (profile !== undefined) return { name: wanted, profile };
    throw new HlvmError({
      code: "not_found",
      reason: "profile_not_found",
      message: `There is no profile ${wanted}.`,
      advice: "`hlvm profile list` shows yours; `hlvm login URL --profile NAME` makes one.",
    });
  }

  /** One change after the other, whichever command makes it. @param change may wait for somebody: nobody else changes anything meanwhile */
  async update(change: (profiles: Profiles) => Profiles | Promise<Profiles>): Promise<Profiles> {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const lock = `${this.#file}.lock`;
    await take(lock);
    try {
      const changed = await change(this.read());
      const draft = `${this.#file}.${process.pid}`;
      writeFileSync(draft, `${JSON.stringify(changed, null, 2)}\n`, { mode: 0o600 });
      renameSync(draft, this.#file);
      return changed;
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
}

/** A folder is made by one process alone. What a process that was killed left is taken away. */
async function take(lock: string): Promise<void> {
  for (;;) {
    try {
      mkdirSync(lock, { mode: 0o700 });
      return;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
      const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - since > LOCK_MILLISECONDS) rmSync(lock, { recursive: true, force: true });
      await delay(LOOK_MILLISECONDS);
    }
  }
}
