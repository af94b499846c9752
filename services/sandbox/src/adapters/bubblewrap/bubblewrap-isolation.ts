import { accessSync, constants, mkdtempSync, rmSync, statSync } from "node:fs";
import { cp } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import pLimit from "p-limit";
import { rgPath } from "@vscode/ripgrep";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { SandboxProfile } from "@hlvm/grant/grant";
import type { Log } from "@hlvm/log/create-log";
import { folderIdentity } from "../../../runner/folder-identity.ts";
import type { CommandSandbox, Isolation, IsolationDescription, Runner, Sandbox, SandboxRequest } from "../../domain/isolation.ts";
import { GroupPool } from "../limits/group-pool.ts";
import type { SandboxLimits } from "../limits/sandbox-limits.ts";
import { seccompFilter } from "../seccomp/seccomp-filter.ts";
import type { Occupant } from "./bubblewrap-arguments.ts";
import { BubblewrapCommand } from "./bubblewrap-command.ts";
import { BubblewrapRunner } from "./bubblewrap-runner.ts";
import type { Bubblewrap } from "./find-bubblewrap.ts";
import { inspectWorkspace, type WorkspaceOwner } from "./inspect-workspace.ts";
import { isolationFeatures } from "./isolation-features.ts";
import { cannotIsolate } from "./namespace-advice.ts";
import { sandboxNotStarted } from "./sandbox-not-started.ts";
import type { SandboxExit, SandboxProcessOptions } from "./sandbox-process.ts";
import { selfTest } from "./self-test.ts";
import { SessionHomes } from "./session-homes.ts";
import { SystemFiles } from "./system-files.ts";
import { Spawner, type Spawned, type SpawnedListener } from "./spawner.ts";

const MEBIBYTE = 1024 * 1024;
const START_DEADLINE_MILLISECONDS = 10_000;
/** Many that start at once would each take as long as all of them together. */
const STARTS_AT_A_TIME = 2 * availableParallelism();
const LIMITER = "/usr/bin/prlimit";

export interface BubblewrapOptions {
  readonly bubblewrap: Bubblewrap;
  readonly limits: SandboxLimits;
  /** Of this process alone: what an earlier one has left in it is removed. */
  readonly stateDirectory: string;
  /** Of all that serve the same sessions, one after the other. */
  readonly homesDirectory: string;
  readonly checkpoints: SessionHomes;
  readonly processes: number;
  readonly memoryMebibytes: number;
  readonly temporaryMebibytes: number;
  readonly fileMebibytes: number;
  readonly log: Log;
}

type Start<Started> = (owner: WorkspaceOwner | undefined, late: Promise<never>) => Promise<Started>;

/** Isolation by bubblewrap, on this machine. */
export class BubblewrapIsolation implements Isolation {
  readonly #options: BubblewrapOptions;
  readonly #systemFiles: SystemFiles;
  readonly #groups: GroupPool;
  readonly #homes: SessionHomes;
  readonly #spawner = new Spawner();
  readonly #startLimit = pLimit(STARTS_AT_A_TIME);

  private constructor(options: BubblewrapOptions, systemFiles: SystemFiles) {
    this.#options = options;
    this.#systemFiles = systemFiles;
    const { limits, processes, memoryMebibytes } = options;
    this.#groups = new GroupPool(limits, { processes, memoryBytes: memoryMebibytes * MEBIBYTE });
    this.#homes = new SessionHomes(options.homesDirectory);
  }

  /**
   * Isolation that was tried out: a process was started in it and looked at from inside.
   * @throws HlvmError `isolation_unavailable`, `isolation_incomplete`, with what is missing and how to get it
   */
  static async open(options: BubblewrapOptions): Promise<BubblewrapIsolation> {
    if (process.platform !== "linux" || (process.arch !== "x64" && process.arch !== "arm64"))
      throw cannotIsolate(`nothing: it runs on Linux on x64 and arm64 only, and this is ${process.platform} on ${process.arch}`, undefined);
    requireLimiter();
    const isolation = new BubblewrapIsolation(options, new SystemFiles(options.stateDirectory, seccompFilter(process.arch), options.log));
    const path = mkdtempSync(join(options.stateDirectory, "self-test-"));
    try {
      const workspace = { path, identity: folderIdentity(statSync(path, { bigint: true })) };
      const sandbox = await isolation.startCommand({ sessionId: "self-test", workspace }, "read").catch((thrown: HlvmError) => {
        throw cannotIsolate(messageOf(thrown.cause), thrown);
      });
      await selfTest(sandbox);
      return isolation;
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  }

  startRunner(request: SandboxRequest): Promise<Runner> {
    return this.#start(request, async (owner, late) => {
      const { workspace } = request;
      const program = this.#systemFiles.runner(owner);
      const checkpoints = this.#options.checkpoints.open(request.sessionId, owner);
      const occupant = { kind: "runner", program, checkpoints, outsidePath: workspace.path, identity: workspace.identity } as const;
      const group = this.#groups.take("command");
      const spawned = this.#spawner.start(this.#optionsOf(request, occupant, owner), group.entry);
      const runner = new BubblewrapRunner(spawned, group, this.#options.log.child({ sessionId: request.sessionId }));
      await this.#up(runner, spawned.exited, runner.start(), late);
      return runner;
    });
  }

  startCommand(request: SandboxRequest, profile: SandboxProfile, wanted?: Promise<void>): Promise<CommandSandbox> {
    return this.#start(request, async (owner, late) => {
      const home = profile === "open" ? this.#homes.open(request.sessionId, owner) : undefined;
      const options = this.#optionsOf(request, { kind: "command", profile, home, image: request.workspace.image }, owner);
      const log = this.#options.log.child({ sessionId: request.sessionId });
      let spawned!: Spawned;
      const group = this.#groups.take(wanted === undefined ? "command" : "standby");
      void wanted?.then(() => group.share("command"));
      const start = (listener: SpawnedListener): Spawned => (spawned = this.#spawner.start(options, group.entry, listener));
      const command = new BubblewrapCommand(start, group, profile !== "read", log);
      const checked = command.ready().then((processId) => requireMounted(processId, request.workspace.identity));
      await this.#up(command, spawned.exited, checked, late);
      return command;
    });
  }

  async copyCheckpoints(from: SandboxRequest, to: SandboxRequest): Promise<void> {
    const { checkpoints } = this.#options;
    const [owner, newOwner] = await Promise.all([inspectWorkspace(from.workspace), inspectWorkspace(to.workspace)]);
    // Only a runner writes in there, and it makes plain files.
    await cp(checkpoints.open(from.sessionId, owner), checkpoints.open(to.sessionId, newOwner), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }

  async forget(sessionId: string): Promise<void> {
    await Promise.all([this.#homes.remove(sessionId), this.#options.checkpoints.remove(sessionId)]);
  }

  /** Gives back what it keeps for sandboxes to come. */
  async close(): Promise<void> {
    this.#spawner.close();
    this.#systemFiles.close();
    await this.#groups.close();
  }

  describe(): IsolationDescription {
    return {
      driver: "bubblewrap",
      driverVersion: this.#options.bubblewrap.version,
      features: isolationFeatures(this.#options),
    };
  }

  #start<Started>(request: SandboxRequest, start: Start<Started>): Promise<Started> {
    return this.#startLimit(() => this.#startInTime(request, start));
  }

  async #startInTime<Started>(request: SandboxRequest, start: Start<Started>): Promise<Started> {
    const late = Promise.withResolvers<never>();
    late.promise.catch(() => undefined);
    const tellLate = (): void => late.reject(new Error(`it was not up within ${START_DEADLINE_MILLISECONDS / 1_000} s`));
    const timer = setTimeout(tellLate, START_DEADLINE_MILLISECONDS);
    try {
      return await start(await Promise.race([inspectWorkspace(request.workspace), late.promise]), late.promise);
    } catch (thrown) {
      throw thrown instanceof HlvmError ? thrown : sandboxNotStarted(request.workspace.path, thrown as Error);
    } finally {
      clearTimeout(timer);
    }
  }

  #optionsOf(request: SandboxRequest, occupant: Occupant, owner: WorkspaceOwner | undefined): SandboxProcessOptions {
    const { limits, memoryMebibytes, processes, temporaryMebibytes, fileMebibytes, bubblewrap } = this.#options;
    const perProcess = limits.perProcess ? { processes, memoryBytes: memoryMebibytes * MEBIBYTE } : undefined;
    const etc = this.#systemFiles.etc(owner);
    const layout = { workspace: request.workspace.path, occupant, etc, ripgrep: rgPath, temporaryMebibytes, fileMebibytes, perProcess };
    return { bubblewrap: bubblewrap.path, layout, seccomp: this.#systemFiles.seccomp, owner };
  }

  async #up(sandbox: Sandbox, exited: Promise<SandboxExit>, ready: Promise<unknown>, late: Promise<never>): Promise<void> {
    const ended = exited.then(({ complaint }) => Promise.reject(new Error(complaint)));
    try {
      await Promise.race([ready, ended, late]);
    } catch (thrown) {
      ready.catch(() => undefined);
      // What cannot be ended, since the kernel waits for a disk that does not answer, is not waited for.
      await Promise.race([sandbox.close(), late]).catch(() => undefined);
      throw thrown;
    }
  }
}

/** The path may have led elsewhere while bwrap looked it up: what counts is what the processes inside see. */
function requireMounted(processId: number, identity: string): void {
  if (folderIdentity(statSync(`/proc/${processId}/root/workspace`, { bigint: true })) === identity) return;
  throw new Error("another folder has taken the place of the one that the session was opened on");
}

function requireLimiter(): void {
  try {
    accessSync(LIMITER, constants.X_OK);
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "limits_unavailable",
      message: `The program ${LIMITER}, which sets the limits of a sandbox, is not installed.`,
      advice: "Install it: `apt-get install util-linux`.",
      cause,
    });
  }
}
