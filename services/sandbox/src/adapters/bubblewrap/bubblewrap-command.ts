import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "@hlvm/log/create-log";
import type { Command, CommandEnd, CommandSandbox, CommandWatch } from "../../domain/isolation.ts";
import type { LimitGroup } from "../limits/sandbox-limits.ts";
import type { Spawned, SpawnedListener } from "./spawner.ts";
import { READY, REFUSALS, toWaitingShell } from "./wait-for-command.ts";
import type { SandboxExit } from "./sandbox-process.ts";

const GONE_TRIES = 500;
const GONE_PAUSE_MILLISECONDS = 2;

/** A sandbox by bubblewrap for one command: a shell that waits in it, becomes the command, and ends with all it started. */
export class BubblewrapCommand implements CommandSandbox {
  readonly #process: Spawned;
  readonly #group: LimitGroup;
  readonly #mayWrite: boolean;
  readonly #initProcess: Promise<number>;
  readonly #ready = Promise.withResolvers<void>();
  readonly #ending = Promise.withResolvers<void>();
  readonly #exited: Promise<SandboxExit>;
  readonly ended: Promise<void>;
  #said = "";
  #kills = 0;
  #refusals = 0;
  #watch: CommandWatch | undefined;
  #wasCut = false;

  /** @param start starts its process */
  constructor(start: (listener: SpawnedListener) => Spawned, group: LimitGroup, mayWrite: boolean, log: Log) {
    this.#mayWrite = mayWrite;
    this.#group = group;
    this.#process = start({ onOutput: (stream, chunk) => this.#take(stream, chunk), onSaid: (piece) => this.#hear(piece) });
    this.#initProcess = this.#release();
    this.#initProcess.catch(() => undefined);
    this.#exited = this.#exit();
    this.ended = this.#end(log);
  }

  /** Resolves with the id on this machine of the first process inside when the shell waits. @throws Error where it never will */
  async ready(): Promise<number> {
    const died = this.#process.exited.then(({ complaint }) => Promise.reject(new Error(complaint)));
    await Promise.race([this.#ready.promise, died]);
    return this.#initProcess;
  }

  get ending(): Promise<void> {
    return this.#ending.promise;
  }

  async run(command: Command, watch: CommandWatch): Promise<CommandEnd> {
    watch.signal.throwIfAborted();
    const abort = (): void => this.#process.kill();
    watch.signal.addEventListener("abort", abort);
    this.#watch = watch;
    this.#ending.resolve();
    this.#process.input(toWaitingShell(command));
    const { code } = await this.#exited;
    if (this.#mayWrite) await this.#allGone();
    watch.signal.removeEventListener("abort", abort);
    watch.signal.throwIfAborted();
    const refusal = Object.entries(REFUSALS).find(([word]) => this.#said.includes(`${word}\n`))?.[1];
    return {
      ...(code === null ? {} : { exitCode: code }),
      ...(refusal === undefined ? {} : { refusal }),
      wasCut: this.#wasCut,
      outOfMemory: this.#kills > 0,
      outOfProcesses: this.#refusals > 0,
    };
  }

  async close(): Promise<void> {
    this.#ending.resolve();
    this.#process.kill();
    await this.ended;
  }

  async #release(): Promise<number> {
    const processId = await this.#process.initProcess;
    if (this.#group.entry !== undefined) return processId;
    await this.#group.join(processId);
    this.#process.release();
    return processId;
  }

  #take(stream: "stdout" | "stderr", chunk: Buffer): void {
    if (this.#watch === undefined || this.#wasCut || this.#watch.onOutput(stream, chunk)) return;
    this.#wasCut = true;
    this.#process.kill();
  }

  /** Only the waiting shell has this descriptor, and it is closed before the command begins. */
  #hear(piece: string): void {
    this.#said = (this.#said + piece).slice(0, 100);
    if (this.#said.includes(`${READY}\n`)) this.#ready.resolve();
  }

  /** Resolves when its process has ended and what its group counted was read. */
  async #exit(): Promise<SandboxExit> {
    const exit = await this.#process.exited;
    this.#ending.resolve();
    if (this.#watch !== undefined) this.#countEvents();
    return exit;
  }

  async #end(log: Log): Promise<void> {
    await this.#exited;
    await this.#group.remove().catch((error: unknown) => log.warn({ err: error }, "a control group could not be removed"));
  }

  /** bwrap has ended; the kernel ends what is left in the process namespace, whose first process goes last. */
  async #allGone(): Promise<void> {
    const processId = await this.#initProcess;
    for (let look = 0; look < GONE_TRIES && isThere(processId); look++) await wait(look === 0 ? 0 : GONE_PAUSE_MILLISECONDS);
  }

  #countEvents(): void {
    try {
      this.#kills = this.#group.outOfMemoryKills();
      this.#refusals = this.#group.refusedProcesses();
    } catch {
      // The group is gone; what it counted last was kept.
    }
  }
}

function isThere(processId: number): boolean {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, "latin1");
    return !["Z", "X"].includes(text.slice(text.lastIndexOf(")") + 2)[0]!);
  } catch {
    return false;
  }
}
