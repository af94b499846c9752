import { fork, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { messageOf } from "@hlvm/errors/message-of";
import type { GroupEntry } from "../limits/group-entry.ts";
import type { SandboxExit, SandboxProcessOptions } from "./sandbox-process.ts";
import type { FromSpawner, ToSpawner } from "./spawner-messages.ts";

const MAIN = fileURLToPath(new URL("spawner-process.ts", import.meta.url));
/** The larger it is, the longer starting a process takes. */
const HEAP_MEBIBYTES = 64;

/** The process waits for news of what was taken only after four times as much. */
const ACKNOWLEDGED_BYTES = 256 * 1024;

/** Told what a command prints, and what its shell says over its own descriptor. */
export interface SpawnedListener {
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => void;
  readonly onSaid: (text: string) => void;
}

/** A sandbox's process that another process has started, and whose pipes it holds. */
export interface Spawned {
  /** Resolves with the id on this machine of the first process inside. @throws Error with what bwrap said */
  readonly initProcess: Promise<number>;
  /** Of a runner: resolves with its descriptor, before it runs. @throws Error with what bwrap said */
  readonly channel: Promise<Socket>;
  readonly exited: Promise<SandboxExit>;
  /** Has what is inside run: a runner, and a command that was not started in a group. */
  readonly release: () => void;
  /** All that is written to its standard input. */
  readonly input: (text: string) => void;
  readonly kill: () => void;
}

interface Held {
  readonly listener: SpawnedListener | undefined;
  /** Bytes of output that it was not told of yet. */
  taken: number;
  readonly made: PromiseWithResolvers<number>;
  readonly channel: PromiseWithResolvers<Socket>;
  readonly exited: PromiseWithResolvers<SandboxExit>;
}

/** Has a small process start the sandboxes, so that nobody whose call runs waits for the next sandbox. */
export class Spawner {
  readonly #processes = new Map<number, Held>();
  #child: ChildProcess | undefined;
  #last = 0;

  /**
   * @param entry to the group it is started in; undefined, it begins in this process's
   * @param listener left out for a runner, which says everything over its channel
   */
  start(options: SandboxProcessOptions, entry: GroupEntry | undefined, listener?: SpawnedListener): Spawned {
    const id = ++this.#last;
    const held: Held = {
      listener,
      taken: 0,
      made: Promise.withResolvers(),
      channel: Promise.withResolvers(),
      exited: Promise.withResolvers(),
    };
    for (const { promise } of [held.made, held.channel]) promise.catch(() => undefined);
    this.#processes.set(id, held);
    const send = (message: ToSpawner): void => {
      if (this.#processes.has(id)) this.#send(message);
    };
    send({ kind: "start", id, options, entry });
    return {
      initProcess: held.made.promise,
      channel: held.channel.promise,
      exited: held.exited.promise,
      release: () => send({ kind: "release", id }),
      input: (text) => send({ kind: "input", id, text }),
      kill: () => send({ kind: "kill", id }),
    };
  }

  /** Has the process end every sandbox that it has started, and then itself. */
  close(): void {
    if (this.#child !== undefined) this.#lose(this.#child, "the sandbox service is closing");
  }

  #send(message: ToSpawner): void {
    const child = (this.#child ??= this.#fork());
    keepAwake(child, true);
    child.send(message, (error) => {
      if (error !== null) this.#lose(child, messageOf(error));
    });
  }

  #fork(): ChildProcess {
    const child = fork(MAIN, [], {
      execArgv: [`--max-old-space-size=${HEAP_MEBIBYTES}`, "--single-threaded", "--disable-sigusr1"],
      env: {},
      serialization: "advanced",
      stdio: ["pipe", "ignore", "inherit", "ipc"],
    });
    (child.stdin as Socket).on("error", () => undefined).unref();
    child.on("message", (message, channel) => this.#receive(message as FromSpawner, channel as Socket | undefined));
    child.on("error", (cause) => this.#lose(child, messageOf(cause)));
    child.on("exit", () => this.#lose(child, "the process that starts sandboxes has ended"));
    return child;
  }

  #receive(message: FromSpawner, channel: Socket | undefined): void {
    const held = this.#processes.get(message.id);
    if (held === undefined) return void channel?.destroy();
    if (message.kind === "channel") held.channel.resolve(channel!);
    if (message.kind === "made") held.made.resolve(message.processId);
    if (message.kind === "said") held.listener?.onSaid(message.text);
    if (message.kind === "exited") this.#end(message.id, held, message.exit);
    if (message.kind === "output") this.#take(held, message);
  }

  #take(held: Held, { id, stream, chunk }: Extract<FromSpawner, { kind: "output" }>): void {
    held.listener?.onOutput(stream, Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    held.taken += chunk.byteLength;
    if (held.taken < ACKNOWLEDGED_BYTES) return;
    this.#send({ kind: "taken", id, bytes: held.taken });
    held.taken = 0;
  }

  /** What the process has started ends before it, or with it: bwrap dies with its parent. The next start gets a new one. */
  #lose(child: ChildProcess, complaint: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    if (child.connected) child.disconnect();
    child.stdin?.destroy();
    keepAwake(child, false);
    for (const [id, held] of this.#processes) this.#end(id, held, { code: null, complaint });
  }

  #end(id: number, held: Held, exit: SandboxExit): void {
    this.#processes.delete(id);
    for (const { reject } of [held.made, held.channel]) reject(new Error(exit.complaint));
    held.exited.resolve(exit);
    if (this.#processes.size === 0 && this.#child !== undefined) keepAwake(this.#child, false);
  }
}

/** Without a sandbox the process does not keep this one from ending. */
function keepAwake(child: ChildProcess, isNeeded: boolean): void {
  for (const handle of [child, child.channel]) {
    if (isNeeded) handle?.ref();
    else handle?.unref();
  }
}
