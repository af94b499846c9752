import { rmSync } from "node:fs";
import { isIPv6 } from "node:net";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { createLog, type Log } from "@hlvm/log/create-log";
import type { BackupAnswer, BackupSummary } from "@hlvm/mesh/back-up";
import { meshStateFile, type MeshState } from "@hlvm/mesh/mesh-state";
import type { RotatedKeys, RotationAnswer } from "@hlvm/mesh/rotate-keys";
import type { SupervisorMessage } from "@hlvm/mesh/supervisor-message";
import { openControlSocket, type ControlSocket } from "./adapters/control-socket.ts";
import { writePrivateFile, type Notice } from "./adapters/private-file.ts";
import type { SupervisorConfig } from "./config.ts";
import { MeshReferences } from "./domain/mesh-references.ts";
import { Mesh } from "./domain/mesh.ts";
import type { ManagedProcess } from "./domain/managed-process.ts";
import type { SupervisionPolicy } from "./domain/supervised-process.ts";

/** Everything about one mesh that is decided before anything is started. */
export interface MeshPlan {
  /** Each stands behind those that it needs. */
  readonly processes: readonly ManagedProcess[];
  readonly policy: SupervisionPolicy;
  /** The process whose port people call. */
  readonly edge: string;
  readonly edgeHost: string;
  readonly tokenFile: string;
  readonly controlSocket: string;
  /** Gives every service that signs a new key, while it runs. */
  readonly rotateKeys: () => Promise<RotatedKeys>;
  /** Writes all data of the mesh into a new folder, while it runs. */
  readonly backUp: (folder: string) => Promise<BackupSummary>;
}

const FIRST_REFERENCE_MILLISECONDS = 10_000;
/** How often the start is tried with other ports when somebody was quicker. */
const PORT_ATTEMPTS = 3;

/**
 * The life of the supervisor's process: brings the mesh up, tells its starter, and takes everything down when its
 * lifetime is over, on SIGTERM or SIGINT, when it is told to, or when its starter goes before the mesh is up.
 */
export async function supervise(
  readConfig: () => SupervisorConfig,
  plan: (config: SupervisorConfig, notice: Notice) => Promise<MeshPlan>,
): Promise<void> {
  const config = await configOrEnd(readConfig);
  const supervisor = new Supervisor(config, createLog("supervisor", config.logLevel));
  const stop = (why: string): void => void supervisor.stop(why);
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
  process.on("disconnect", () => supervisor.onStarterGone());
  process.on("uncaughtException", (cause) => void supervisor.fail(cause));
  process.on("unhandledRejection", (cause) => void supervisor.fail(cause));
  try {
    await supervisor.start((notice) => plan(config, notice));
  } catch (cause) {
    await supervisor.fail(cause);
  }
}

async function configOrEnd(readConfig: () => SupervisorConfig): Promise<SupervisorConfig> {
  try {
    return readConfig();
  } catch (cause) {
    await tell(failure(cause));
    process.exit(1);
  }
}

class Supervisor {
  readonly #config: SupervisorConfig;
  readonly #log: Log;
  readonly #startedAt = new Date().toISOString();
  #mesh: Mesh | undefined;
  #control: ControlSocket | undefined;
  #ready = false;
  #stopping: Promise<void> | undefined;

  constructor(config: SupervisorConfig, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  async start(plan: (notice: Notice) => Promise<MeshPlan>): Promise<void> {
    const since = performance.now();
    const planned = await this.#bringUp(plan);
    const references = new MeshReferences(
      this.#config.lifetime === "while-referenced",
      FIRST_REFERENCE_MILLISECONDS,
      (why) => void this.stop(why),
    );
    this.#control = await openControlSocket(planned.controlSocket, {
      onReference: () => references.take(),
      onDown: () => void this.stop("told to"),
      onRotateKeys: () => this.#rotateKeys(planned),
      onBackUp: (folder) => this.#backUp(planned, folder),
    });
    const state = this.#writeState(planned);
    this.#ready = true;
    this.#log.info({ edge: state.edgeUrl, milliseconds: Math.round(performance.now() - since) }, "the mesh is up");
    await tell({ kind: "ready", state });
  }

  /** Ends everything, then this process. */
  stop(why: string): Promise<void> {
    this.#stopping ??= this.#stop(why, 0);
    return this.#stopping;
  }

  async fail(cause: unknown): Promise<void> {
    if (this.#stopping !== undefined) return;
    this.#log.error({ err: cause }, "cannot go on");
    await tell(failure(cause));
    this.#stopping ??= this.#stop("failed", 1);
    await this.#stopping;
  }

  onStarterGone(): void {
    if (!this.#ready) void this.stop("its starter went away");
  }

  async #rotateKeys(planned: MeshPlan): Promise<RotationAnswer> {
    try {
      const answer = await planned.rotateKeys();
      this.#log.info(answer, "keys were rotated");
      return answer;
    } catch (cause) {
      this.#log.error({ err: cause }, "keys were not rotated");
      return { failed: failure(cause) };
    }
  }

  async #backUp(planned: MeshPlan, folder: string): Promise<BackupAnswer> {
    try {
      const answer = await planned.backUp(folder);
      this.#log.info(answer, "a backup was written");
      return answer;
    } catch (cause) {
      this.#log.error({ err: cause, folder }, "no backup was written");
      return { failed: failure(cause) };
    }
  }

  #onChange(planned: MeshPlan): void {
    if (this.#ready && this.#stopping === undefined) this.#writeState(planned);
  }

  async #bringUp(plan: (notice: Notice) => Promise<MeshPlan>): Promise<MeshPlan> {
    for (let attempt = 1; ; attempt++) {
      const planned = await plan(say);
      this.#mesh = new Mesh(planned.processes, planned.policy, this.#log, { onProgress: say, onChange: () => this.#onChange(planned) });
      try {
        await this.#mesh.start();
        return planned;
      } catch (cause) {
        const mayBeOtherPort = cause instanceof HlvmError && cause.reason === "port_taken" && this.#mesh.failedProcess !== planned.edge;
        if (!mayBeOtherPort || attempt === PORT_ATTEMPTS || this.#stopping !== undefined) throw cause;
        this.#log.warn({ err: cause }, "somebody took a port that was free; trying others");
      }
    }
  }

  async #stop(why: string, code: number): Promise<void> {
    this.#log.info({ why }, "stopping");
    rmSync(meshStateFile(this.#config.directory), { force: true });
    this.#control?.close();
    await this.#mesh?.stop().catch((cause: unknown) => this.#log.error({ err: cause }, "something did not end well"));
    this.#log.info("everything has ended");
    process.exit(code);
  }

  #writeState(planned: MeshPlan): MeshState {
    const services = this.#mesh!.processes.map(({ managed, status, running, port }) => ({
      name: managed.name,
      state: status.state,
      since: status.since.toISOString(),
      reason: status.reason,
      nextAttempt: status.nextAttempt?.toISOString(),
      pid: running?.pid,
      port,
      logFile: managed.logFile,
    }));
    const edgePort = services.find(({ name }) => name === planned.edge)?.port;
    const state: MeshState = {
      supervisorPid: process.pid,
      lifetime: this.#config.lifetime,
      edgeUrl: `http://${isIPv6(planned.edgeHost) ? `[${planned.edgeHost}]` : planned.edgeHost}:${edgePort}`,
      tokenFile: planned.tokenFile,
      controlSocket: planned.controlSocket,
      startedAt: this.#startedAt,
      services,
    };
    writePrivateFile(meshStateFile(this.#config.directory), JSON.stringify(state));
    return state;
  }
}

function say(line: string): void {
  void tell({ kind: "progress", line });
}

function tell(message: SupervisorMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}

function failure(cause: unknown): Extract<SupervisorMessage, { kind: "failed" }> {
  if (cause instanceof HlvmError)
    return { kind: "failed", code: cause.code, reason: cause.reason, message: cause.message, advice: cause.advice };
  return {
    kind: "failed",
    code: "internal",
    reason: "supervisor_failed",
    message: `The supervisor failed: ${messageOf(cause)}.`,
    advice: "logs/supervisor.log in the HLVM directory says more.",
  };
}
