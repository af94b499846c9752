import { messageOf } from "@hlvm/errors/message-of";
import { ToolFailure } from "../../runner/tool.ts";
import { CappedText } from "./commands/capped-text.ts";
import type { CommandRoom } from "./commands/shell-exec.ts";
import type { Command, CommandEnd, ToolRun } from "./isolation.ts";
import type { ProtectedChange } from "./protected-change.ts";
import { failedResult, succeeded, type ToolResult } from "./tool-event.ts";

const MAXIMUM_RUNNING = 4;
/** Ended ones stay listed, the latest of them. */
const MAXIMUM_LISTED = 12;
const LIFETIME_MILLISECONDS = 30 * 60 * 1_000;
const SHOWN_BYTES = 16 * 1024;
const GUARD_EVERY_MILLISECONDS = 1_000;

/** A command that was asked to go on after its call. */
export interface BackgroundProcess {
  readonly processId: number;
  readonly command: string;
  readonly startedAt: Date;
  /** How it ended, in words; left out while it runs. */
  readonly end?: string;
  /** Beginning and end of what it has printed so far. */
  readonly output: string;
}

interface Kept {
  readonly processId: number;
  readonly command: string;
  readonly startedAt: Date;
  readonly text: CappedText;
  readonly stopping: AbortController;
  ended: Promise<void>;
  end?: string;
}

/** A session's commands that run in the background: each in a sandbox of its own, listed, and ended with the session. */
export class BackgroundProcesses {
  readonly #onEmpty: () => void;
  readonly #processes = new Map<number, Kept>();
  #last = 0;

  /** @param onEmpty called when the last that ran has ended */
  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty;
  }

  get isEmpty(): boolean {
    return this.#running().length === 0;
  }

  /** Starts one, and does not wait for it. The sandbox is its own from now on. */
  async start(run: ToolRun, command: Command & { readonly text: string }, room: CommandRoom): Promise<ToolResult> {
    if (this.#running().length >= MAXIMUM_RUNNING) {
      await room.sandbox.close();
      return failedResult("unavailable", `${MAXIMUM_RUNNING} processes run in the background already. Stop one with stop_process.`, 0);
    }
    const text = new CappedText(SHOWN_BYTES);
    const stopping = new AbortController();
    const timer = setTimeout(
      () => stopping.abort(new ToolFailure("timeout", `it was ended after ${LIFETIME_MILLISECONDS / 60_000} minutes`)),
      LIFETIME_MILLISECONDS,
    ).unref();
    await room.guard?.protect(run.callId);
    const processId = ++this.#last;
    const kept: Kept = { processId, command: command.text, startedAt: new Date(), text, stopping, ended: Promise.resolve() };
    kept.ended = this.#follow(kept, run, command, room).finally(() => clearTimeout(timer));
    this.#processes.set(processId, kept);
    this.#forgetOld();
    return succeeded(
      `It runs in the background as process ${processId}, for at most ${LIFETIME_MILLISECONDS / 60_000} minutes. list_processes shows what it prints, stop_process ends it.`,
      `process ${processId} started`,
    );
  }

  list(): BackgroundProcess[] {
    return [...this.#processes.values()].map(({ processId, command, startedAt, text, end }) => ({
      processId,
      command,
      startedAt,
      output: text.toString(),
      ...(end === undefined ? {} : { end }),
    }));
  }

  /** Ends one with all that it started. @returns undefined where there is none of this number */
  async stop(processId: number): Promise<BackgroundProcess | undefined> {
    const kept = this.#processes.get(processId);
    kept?.stopping.abort(new ToolFailure("cancelled", "it was stopped"));
    await kept?.ended;
    return this.list().find((one) => one.processId === processId);
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#running().map(({ processId }) => this.stop(processId)));
  }

  #running(): Kept[] {
    return [...this.#processes.values()].filter(({ end }) => end === undefined);
  }

  async #follow(kept: Kept, run: ToolRun, command: Command, room: CommandRoom): Promise<void> {
    const onOutput = (_: string, chunk: Buffer): boolean => {
      kept.text.push(chunk);
      return true;
    };
    const watching = setInterval(() => void this.#guard(run, room, kept, true), GUARD_EVERY_MILLISECONDS).unref();
    let end: string;
    try {
      end = inWords(await room.sandbox.run(command, { signal: kept.stopping.signal, onOutput }));
    } catch (thrown) {
      end = messageOf(thrown);
    }
    clearInterval(watching);
    await room.sandbox.close();
    await this.#guard(run, room, kept, false);
    kept.end = end;
    if (this.isEmpty) this.#onEmpty();
  }

  async #guard(run: ToolRun, { guard }: CommandRoom, { text }: Kept, keepWatching: boolean): Promise<void> {
    const changes = await guard?.restore(run.callId, keepWatching).catch((): ProtectedChange[] => []);
    for (const { diff } of changes ?? [])
      text.push(Buffer.from(`\n[It changed what programs outside of the sandbox obey. It was put back:\n${diff}]\n`));
  }

  #forgetOld(): void {
    for (const { processId, end } of this.#processes.values()) {
      if (this.#processes.size <= MAXIMUM_LISTED) return;
      if (end !== undefined) this.#processes.delete(processId);
    }
  }
}

function inWords({ exitCode, refusal, outOfMemory }: CommandEnd): string {
  if (refusal !== undefined) return "there is no such folder in the workspace";
  if (outOfMemory) return "the memory limit was reached";
  return exitCode === undefined ? "its sandbox was ended" : `exit code ${exitCode}`;
}
