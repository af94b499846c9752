import { accessSync, constants, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { Log } from "@hlvm/log/create-log";
import type { Isolation, IsolationDescription, SandboxRequest, SessionSandbox } from "../../domain/isolation.ts";
import type { LimitGroup, SandboxLimits } from "../limits/sandbox-limits.ts";
import { folderIdentity } from "../../../runner/folder-identity.ts";
import { seccompFilter } from "../seccomp/seccomp-filter.ts";
import { BubblewrapSandbox } from "./bubblewrap-sandbox.ts";
import type { RunnerProgram } from "./bubblewrap-arguments.ts";
import type { Bubblewrap } from "./find-bubblewrap.ts";
import { inspectWorkspace } from "./inspect-workspace.ts";
import { isolationFeatures } from "./isolation-features.ts";
import { cannotIsolate } from "./namespace-advice.ts";
import { prepareRunner } from "./prepare-runner.ts";
import { sandboxNotStarted } from "./sandbox-not-started.ts";
import { startSandboxProcess } from "./sandbox-process.ts";
import { selfTest } from "./self-test.ts";

const FIRST_USER_ID = 20_000;
const START_DEADLINE_MILLISECONDS = 10_000;
const RUNNER_SOURCE = { folder: fileURLToPath(new URL("../../../runner", import.meta.url)), file: "main.ts" };
const LIMITER = "/usr/bin/prlimit";

export interface BubblewrapOptions {
  readonly bubblewrap: Bubblewrap;
  readonly limits: SandboxLimits;
  readonly stateDirectory: string;
  readonly processes: number;
  readonly memoryMebibytes: number;
  readonly temporaryMebibytes: number;
  readonly fileMebibytes: number;
  readonly log: Log;
}

/** Isolation by bubblewrap, on this machine. */
export class BubblewrapIsolation implements Isolation {
  readonly #options: BubblewrapOptions;
  readonly #filter: Buffer;
  readonly #preparedRunner: RunnerProgram;
  /** Users of the sandboxes that are up: each has one of its own. */
  readonly #userIds = new Set<number>();

  private constructor(options: BubblewrapOptions, filter: Buffer) {
    this.#options = options;
    this.#filter = filter;
    this.#preparedRunner = { folder: join(options.stateDirectory, "runner"), file: "main.js" };
  }

  /**
   * Isolation that was tried out: a process was started in it and looked at from inside.
   * @throws HlvmError `isolation_unavailable`, `isolation_incomplete`, with what is missing and how to get it
   */
  static async open(options: BubblewrapOptions): Promise<BubblewrapIsolation> {
    if (process.platform !== "linux" || (process.arch !== "x64" && process.arch !== "arm64"))
      throw cannotIsolate(`nothing: it runs on Linux on x64 and arm64 only, and this is ${process.platform} on ${process.arch}`, undefined);
    requireLimiter();
    prepareRunner(RUNNER_SOURCE.folder, join(options.stateDirectory, "runner"));
    const isolation = new BubblewrapIsolation(options, seccompFilter(process.arch));
    const path = mkdtempSync(join(options.stateDirectory, "self-test-"));
    try {
      const workspace = { path, identity: folderIdentity(statSync(path, { bigint: true })) };
      const sandbox = await isolation.start({ sessionId: "self-test", workspace }).catch((thrown: HlvmError) => {
        throw cannotIsolate(messageOf(thrown.cause), thrown);
      });
      try {
        await selfTest(sandbox);
      } finally {
        await sandbox.close();
      }
      return isolation;
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  }

  async start(request: SandboxRequest): Promise<SessionSandbox> {
    const late = Promise.withResolvers<never>();
    late.promise.catch(() => undefined);
    const tellLate = (): void => late.reject(new Error(`it was not up within ${START_DEADLINE_MILLISECONDS / 1_000} s`));
    const timer = setTimeout(tellLate, START_DEADLINE_MILLISECONDS);
    try {
      return await this.#start(request, late.promise);
    } catch (thrown) {
      throw thrown instanceof HlvmError ? thrown : sandboxNotStarted(request.workspace.path, thrown as Error);
    } finally {
      clearTimeout(timer);
    }
  }

  describe(): IsolationDescription {
    return {
      driver: "bubblewrap",
      driverVersion: this.#options.bubblewrap.version,
      features: isolationFeatures(this.#options),
    };
  }

  async #start({ sessionId, workspace }: SandboxRequest, late: Promise<never>): Promise<SessionSandbox> {
    const { limits, log } = this.#options;
    const owner = await Promise.race([inspectWorkspace(workspace), late]);
    const memoryBytes = this.#options.memoryMebibytes * 1024 * 1024;
    const values = { processes: this.#options.processes, memoryBytes };
    const userId = this.#takeUserId();
    let group: LimitGroup | undefined;
    let sandbox: BubblewrapSandbox | undefined;
    try {
      group = limits.createGroup(values);
      const sandboxProcess = startSandboxProcess({
        bubblewrap: this.#options.bubblewrap.path,
        layout: {
          workspace,
          userId,
          // Only this process's user may look into the state directory.
          runner: owner === undefined ? this.#preparedRunner : RUNNER_SOURCE,
          ripgrep: rgPath,
          temporaryMebibytes: this.#options.temporaryMebibytes,
          fileMebibytes: this.#options.fileMebibytes,
          perProcess: limits.perProcess ? values : undefined,
        },
        seccompFilter: this.#filter,
        group,
        owner,
      });
      const freeUserId = (): boolean => this.#userIds.delete(userId);
      sandbox = new BubblewrapSandbox(sandboxProcess, group, log.child({ sessionId }), freeUserId);
      const ended = sandboxProcess.exited.then((complaint) => Promise.reject(new Error(complaint)));
      await Promise.race([sandboxProcess.release().then(() => sandbox!.ready), ended, late]);
      return sandbox;
    } catch (thrown) {
      if (sandbox === undefined) {
        this.#userIds.delete(userId);
        await group?.remove().catch(() => undefined);
      } else {
        // What cannot be ended, since the kernel waits for a disk that does not answer, is not waited for.
        await Promise.race([sandbox.close(), late]).catch(() => undefined);
      }
      throw thrown;
    }
  }

  #takeUserId(): number {
    let userId = FIRST_USER_ID;
    while (this.#userIds.has(userId)) userId++;
    this.#userIds.add(userId);
    return userId;
  }
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
