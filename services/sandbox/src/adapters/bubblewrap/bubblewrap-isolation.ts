import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { Log } from "@hlvm/log/create-log";
import type { Isolation, IsolationDescription, SandboxRequest, SessionSandbox } from "../../domain/isolation.ts";
import type { SandboxLimits } from "../limits/sandbox-limits.ts";
import { seccompFilter } from "../seccomp/seccomp-filter.ts";
import { BubblewrapSandbox } from "./bubblewrap-sandbox.ts";
import type { RunnerProgram } from "./bubblewrap-arguments.ts";
import type { Bubblewrap } from "./find-bubblewrap.ts";
import { isolationFeatures } from "./isolation-features.ts";
import { cannotIsolate } from "./namespace-advice.ts";
import { prepareRunner } from "./prepare-runner.ts";
import { sandboxNotStarted, startSandboxProcess } from "./sandbox-process.ts";
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
    const workspace = mkdtempSync(join(options.stateDirectory, "self-test-"));
    try {
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
      rmSync(workspace, { recursive: true, force: true });
    }
  }

  async start({ sessionId, workspace }: SandboxRequest): Promise<SessionSandbox> {
    const { limits, log } = this.#options;
    const memoryBytes = this.#options.memoryMebibytes * 1024 * 1024;
    const values = { processes: this.#options.processes, memoryBytes };
    const userId = this.#takeUserId();
    const group = limits.createGroup(values);
    try {
      const owner = await ownerOf(workspace);
      const sandboxProcess = await startSandboxProcess({
        bubblewrap: this.#options.bubblewrap.path,
        layout: {
          workspace,
          userId,
          // Only this process's user may look into the state directory.
          runner: owner === undefined ? this.#preparedRunner : RUNNER_SOURCE,
          node: process.execPath,
          ripgrep: rgPath,
          temporaryMebibytes: this.#options.temporaryMebibytes,
          fileMebibytes: this.#options.fileMebibytes,
          perProcess: limits.perProcess ? values : undefined,
        },
        seccompFilter: this.#filter,
        group,
        owner,
      });
      const sandbox = new BubblewrapSandbox(sandboxProcess, group, log.child({ sessionId }), () => this.#userIds.delete(userId));
      await becomesReady(sandbox, sandboxProcess.exited);
      return sandbox;
    } catch (thrown) {
      this.#userIds.delete(userId);
      await group.remove().catch(() => undefined);
      throw sandboxNotStarted(workspace, thrown as Error);
    }
  }

  describe(): IsolationDescription {
    return {
      driver: "bubblewrap",
      driverVersion: this.#options.bubblewrap.version,
      features: isolationFeatures(this.#options),
    };
  }

  #takeUserId(): number {
    let userId = FIRST_USER_ID;
    while (this.#userIds.has(userId)) userId++;
    this.#userIds.add(userId);
    return userId;
  }
}

async function becomesReady(sandbox: BubblewrapSandbox, exited: Promise<string>): Promise<void> {
  const over = new AbortController();
  const late = wait(START_DEADLINE_MILLISECONDS, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`its runner did not answer within ${START_DEADLINE_MILLISECONDS / 1_000} s`);
  });
  late.catch(() => undefined);
  try {
    await Promise.race([sandbox.ready, late, exited.then((complaint) => Promise.reject(new Error(complaint)))]);
  } catch (thrown) {
    await sandbox.close();
    throw thrown;
  } finally {
    over.abort();
  }
}

/** Root gives the sandbox to the owner of the workspace: what a tool may read and write is then what that person may. */
async function ownerOf(workspace: string): Promise<{ userId: number; groupId: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(workspace);
  return uid === 0 ? undefined : { userId: uid, groupId: gid };
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
