import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Log } from "@hlvm/log/create-log";
import { USER_ID } from "./bubblewrap-arguments.ts";
import type { WorkspaceOwner } from "./inspect-workspace.ts";
import { prepareRunner } from "./prepare-runner.ts";
import { HOME } from "./sandbox-environment.ts";

const RUNNER_SOURCE = fileURLToPath(new URL("../../../runner", import.meta.url));

/** Of the machine's /etc only what programs need to start, to find their alternatives and to know certificates and time zone. */
const COPIED = ["ld.so.cache", "alternatives", "ssl/certs", "ssl/openssl.cnf", "localtime"];
/** Most alternatives are pages of manuals, and each link takes up to half a millisecond to make. */
const MANUAL_PAGE = ".gz";

const WRITTEN: Readonly<Record<string, string>> = {
  passwd: `hlvm:x:${USER_ID}:${USER_ID}:HLVM:${HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: `hlvm:x:${USER_ID}:\nnogroup:x:65534:\n`,
  hosts: "127.0.0.1 localhost hlvm\n::1 localhost hlvm\n",
};

/**
 * The files that are made when the service starts, for all sandboxes: an /etc, since each mount costs every sandbox a tenth
 * of a millisecond, the runner's program, and the seccomp filter.
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
    prepare(this.#folder, log);
  }

  /** bwrap gets it by descriptor. */
  get seccomp(): string {
    return join(this.#folder, "seccomp");
  }

  /** What becomes /etc, read-only. @param owner left out, this process's user */
  etc(owner: WorkspaceOwner | undefined): string {
    return join(this.#folderFor(owner), "etc");
  }

  /** The runner's program. @param owner left out, this process's user */
  runner(owner: WorkspaceOwner | undefined): string {
    return join(this.#folderFor(owner), "runner.cjs");
  }

  close(): void {
    if (this.#public !== undefined) rmSync(this.#public, { recursive: true, force: true });
    this.#public = undefined;
  }

  #folderFor(owner: WorkspaceOwner | undefined): string {
    if (owner === undefined) return this.#folder;
    if (this.#public === undefined) {
      this.#public = mkdtempSync(join(tmpdir(), "hlvm-system-"));
      chmodSync(this.#public, 0o755);
      prepare(this.#public, this.#log);
    }
    return this.#public;
  }
}

function prepare(folder: string, log: Log): void {
  const runner = join(folder, "runner.cjs");
  prepareRunner(RUNNER_SOURCE, runner);
  chmodSync(runner, 0o644);
  const etc = join(folder, "etc");
  mkdirSync(join(etc, "ssl"), { recursive: true });
  for (const path of [etc, join(etc, "ssl")]) chmodSync(path, 0o755);
  for (const name of COPIED) copy(join("/etc", name), join(etc, name), log);
  for (const [name, content] of Object.entries(WRITTEN)) {
    writeFileSync(join(etc, name), content);
    chmodSync(join(etc, name), 0o644);
  }
}

function copy(source: string, destination: string, log: Log): void {
  if (!existsSync(source)) return;
  try {
    const filter = (path: string): boolean => !path.endsWith(MANUAL_PAGE);
    cpSync(realpathSync(source), destination, { recursive: true, verbatimSymlinks: true, filter });
  } catch (cause) {
    log.warn({ err: cause }, `sandboxes go without ${source}`);
  }
}
