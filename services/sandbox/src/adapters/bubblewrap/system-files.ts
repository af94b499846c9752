import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "@hlvm/log/create-log";
import { USER_ID } from "./bubblewrap-arguments.ts";
import type { WorkspaceOwner } from "./inspect-workspace.ts";
import { HOME } from "./sandbox-environment.ts";

/** Of the machine's /etc only what programs need to start, to find their alternatives and to know certificates and time zone. */
const COPIED = ["ld.so.cache", "alternatives", "ssl/certs", "ssl/openssl.cnf", "localtime"];

const WRITTEN: Readonly<Record<string, string>> = {
  passwd: `hlvm:x:${USER_ID}:${USER_ID}:HLVM:${HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: `hlvm:x:${USER_ID}:\nnogroup:x:65534:\n`,
  hosts: "127.0.0.1 localhost hlvm\n::1 localhost hlvm\n",
};

/**
 * The files that are made once for all sandboxes: an /etc, since each mount costs every sandbox a tenth of a millisecond,
 * and the seccomp filter.
 */
export class SystemFiles {
  readonly #folder: string;
  readonly #log: Log;
  /** For sandboxes of other users, who may not look into the state directory. */
  #public: string | undefined;

  constructor(stateDirectory: string, filter: Buffer, log: Log) {
    this.#folder = join(stateDirectory, "system-files");
    this.#log = log;
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder);
    writeFileSync(this.seccomp, filter);
    this.#prepare(join(this.#folder, "etc"));
  }

  /** bwrap gets it by descriptor. */
  get seccomp(): string {
    return join(this.#folder, "seccomp");
  }

  /** What becomes /etc, read-only. @param owner left out, this process's user */
  etc(owner: WorkspaceOwner | undefined): string {
    if (owner === undefined) return join(this.#folder, "etc");
    if (this.#public === undefined) {
      this.#public = mkdtempSync(join(tmpdir(), "hlvm-etc-"));
      this.#prepare(this.#public);
    }
    return this.#public;
  }

  close(): void {
    if (this.#public !== undefined) rmSync(this.#public, { recursive: true, force: true });
    this.#public = undefined;
  }

  #prepare(folder: string): void {
    mkdirSync(join(folder, "ssl"), { recursive: true });
    for (const path of [folder, join(folder, "ssl")]) chmodSync(path, 0o755);
    for (const name of COPIED) this.#copy(join("/etc", name), join(folder, name));
    for (const [name, content] of Object.entries(WRITTEN)) {
      writeFileSync(join(folder, name), content);
      chmodSync(join(folder, name), 0o644);
    }
  }

  #copy(source: string, destination: string): void {
    if (!existsSync(source)) return;
    try {
      cpSync(realpathSync(source), destination, { recursive: true, verbatimSymlinks: true });
    } catch (cause) {
      this.#log.warn({ err: cause }, `sandboxes go without ${source}`);
    }
  }
}
