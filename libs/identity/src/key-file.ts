import { readFileSync, statSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";

const LOOK_MILLISECONDS = 1_000;

/**
 * What a file with keys holds, now: it may be replaced while this process runs. Whether it was is looked up once a second
 * at most, so that keys can be asked for in every call; a file that cannot be read any more leaves what it held last.
 */
export class KeyFile<Content> {
  readonly #path: string;
  readonly #parse: (text: string) => Content;
  #content: Content;
  #version: string;
  #lookedAt: number;
  #lookedAgainAt = Number.NEGATIVE_INFINITY;

  /** @throws HlvmError `key_not_readable` */
  constructor(path: string, parse: (text: string) => Content) {
    this.#path = path;
    this.#parse = parse;
    this.#lookedAt = performance.now();
    try {
      this.#version = versionOf(path);
      this.#content = parse(readFileSync(path, "utf8"));
    } catch (cause) {
      throw new HlvmError({
        code: "failed_precondition",
        reason: "key_not_readable",
        message: `The keys in ${path} cannot be used: ${(cause as Error).message}.`,
        advice: "Give the path of a file with keys in the form of JSON Web Keys that this process may read.",
        cause,
      });
    }
  }

  get content(): Content {
    const now = performance.now();
    if (now - this.#lookedAt >= LOOK_MILLISECONDS) {
      this.#lookedAt = now;
      this.#look();
    }
    return this.#content;
  }

  /** For who misses a key: looks at once, and for all who do no more than once a second, since anybody can name keys that are not there. */
  get latest(): Content {
    const now = performance.now();
    if (now - this.#lookedAgainAt >= LOOK_MILLISECONDS) {
      this.#lookedAgainAt = now;
      this.#lookedAt = now;
      this.#look();
    }
    return this.#content;
  }

  #look(): void {
    try {
      const version = versionOf(this.#path);
      if (version === this.#version) return;
      this.#content = this.#parse(readFileSync(this.#path, "utf8"));
      this.#version = version;
    } catch {
      // Half a rotation, or somebody's mistake: calls go on with what was good, and the next look may find better.
    }
  }
}

/** A file that was renamed into place is another one, whatever the clock says of it. */
function versionOf(path: string): string {
  const { ino, mtimeNs, size } = statSync(path, { bigint: true });
  return `${ino}-${mtimeNs}-${size}`;
}
