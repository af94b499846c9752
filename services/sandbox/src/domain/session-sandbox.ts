import type { SandboxProfile } from "@hlvm/grant/grant";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import { runGitTool, isGitTool } from "./commands/git-tools.ts";
import { isProcessTool, runProcessTool } from "./commands/process-tools.ts";
import { isInBackground, runShellCommand, startInBackground } from "./commands/shell-exec.ts";
import { BackgroundProcesses } from "./background-processes.ts";
import { HeldChanges } from "./held-changes.ts";
import type {
  CommandSandbox,
  Compared,
  FoundInstructions,
  InstructionsAsked,
  Isolation,
  RewindRequest,
  Rewound,
  Runner,
  Previewed,
  SandboxRequest,
  TakeOutput,
  ToolRun,
} from "./isolation.ts";
import { ResidentRunner } from "./resident-runner.ts";
import { TurnCheckpoints } from "./turn-checkpoints.ts";
import { Standbys } from "./standbys.ts";
import type { ToolResult } from "./tool-event.ts";

/** The first call may need the runner instead, which starts the slower the more else starts beside it. */
const STANDING_BY_AT_FIRST = 1;
/** Models that answer at once, and calls that come in parallel, need the next one before another has been made. */
const STANDING_BY_AFTER_A_COMMAND = 2;
/** The result goes out first: the kernel would let the service wait until the new process stands. */
const PAUSE_BEFORE_STANDBY_MILLISECONDS = 1;

/** Runs the call, for which all that it needs is up by now. */
export type Execute = (takeOutput: TakeOutput, signal: AbortSignal) => Promise<ToolResult>;

export interface SessionSandboxOptions {
  readonly isolation: Isolation;
  readonly request: SandboxRequest;
  /** Without a call for this long it is stopped. */
  readonly idleMilliseconds: number;
  readonly log: Log;
  /** Called when the last call, or the last process in the background, has ended. */
  readonly onIdle: () => void;
}

/** The sandboxes of a session over time: a runner for its file tools, and one for each command that is used once. */
export class SessionSandbox {
  readonly #workspace: string;
  readonly #idleMilliseconds: number;
  readonly #runner: ResidentRunner;
  readonly #standbys: Standbys;
  readonly #held = new HeldChanges();
  readonly #checkpoints: TurnCheckpoints;
  readonly #onIdle: () => void;
  /** The commands that run on after their calls. */
  readonly processes: BackgroundProcesses;
  #users = 0;
  #idle: NodeJS.Timeout | undefined;
  #next: NodeJS.Timeout | undefined;
  #isClosed = false;
  #lastUse = performance.now();

  constructor({ isolation, request, idleMilliseconds, log, onIdle }: SessionSandboxOptions) {
    this.#workspace = request.workspace.path;
    this.#idleMilliseconds = idleMilliseconds;
    this.#runner = new ResidentRunner(isolation, request);
    this.#standbys = new Standbys(isolation, request, log.child({ sessionId: request.sessionId }));
    this.#checkpoints = new TurnCheckpoints(() => this.#runner.up(), log.child({ sessionId: request.sessionId }));
    this.#onIdle = onIdle;
    this.processes = new BackgroundProcesses(onIdle);
  }

  /** Something of it is up or coming up. */
  get isUp(): boolean {
    return this.isInUse || this.#runner.isUp || !this.#standbys.isEmpty;
  }

  get isInUse(): boolean {
    return this.#users > 0 || !this.processes.isEmpty;
  }

  /** Milliseconds, as `performance.now()` has them. */
  get lastUse(): number {
    return this.#lastUse;
  }

  /** Has a sandbox stand by for what mostly comes first: a command that reads. */
  warm(): void {
    this.#standbys.prepare("read", STANDING_BY_AT_FIRST);
    this.#watchIdle();
  }

  /** Brings up what the call needs, and keeps it up while `use` is under way. @throws what `Isolation` throws: nothing ran then */
  async use<Result>(run: ToolRun, use: (execute: Execute) => Promise<Result>): Promise<Result> {
    this.#users++;
    clearTimeout(this.#idle);
    try {
      return await this.#checkpoints.around(run, () => this.#useFor(run, use));
    } finally {
      this.#users--;
      this.#lastUse = performance.now();
      this.#watchIdle();
      if (!this.isInUse) this.#onIdle();
    }
  }

  /** Has the workspace go back to an earlier turn. @throws HlvmError `workspace_in_use` while something runs in it */
  async rewind(request: RewindRequest): Promise<Rewound> {
    if (this.isInUse) throw inUse();
    this.#users++;
    try {
      return await this.#checkpoints.rewind(request);
    } finally {
      this.#users--;
      this.#watchIdle();
      this.#onIdle();
    }
  }

  /** While nothing writes in the workspace and all that was written is noted. @throws HlvmError `workspace_in_use` while something runs in it */
  async whileStill(work: () => Promise<void>): Promise<void> {
    if (this.isInUse) throw inUse();
    this.#users++;
    try {
      await this.#checkpoints.noted();
      await work();
    } finally {
      this.#users--;
      this.#watchIdle();
      this.#onIdle();
    }
  }

  /** What has changed since the session's first checkpoint, also while something runs. */
  compare(): Promise<Compared> {
    return this.#look(() => this.#checkpoints.compare());
  }

  /** What a call of a file tool would change, also while something runs. */
  preview(tool: string, argumentsJson: string): Promise<Previewed> {
    return this.#look(async () => (await this.#runner.up()).preview(tool, argumentsJson));
  }

  /** The files with instructions in its workspace, also while something runs. */
  readInstructions(asked: InstructionsAsked): Promise<FoundInstructions> {
    return this.#look(async () => (await this.#runner.up()).readInstructions(asked));
  }

  async #look<Seen>(look: () => Promise<Seen>): Promise<Seen> {
    this.#users++;
    clearTimeout(this.#idle);
    try {
      return await look();
    } finally {
      this.#users--;
      this.#watchIdle();
      if (!this.isInUse) this.#onIdle();
    }
  }

  /** Ends all sandboxes; the next use starts new ones. */
  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    clearTimeout(this.#next);
    // Where there are none, all is given up in this moment: a call that comes next starts anew.
    if (!this.processes.isEmpty) await this.processes.stopAll();
    await Promise.all([this.#runner.stop(), this.#standbys.discard()]);
  }

  /** Ends them for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#next);
    await this.processes.stopAll();
    await Promise.all([this.#runner.close(), this.#standbys.close()]);
  }

  async #useFor<Result>(run: ToolRun, use: (execute: Execute) => Promise<Result>): Promise<Result> {
    if (isProcessTool(run.tool)) return use(() => runProcessTool(run, this.processes));
    if (run.tool !== "shell_exec" && !isGitTool(run.tool)) {
      const runner = await this.#runner.up();
      if (run.tool === "keep_changes") return use(() => this.#held.keep(run, runner));
      return use((_, signal) => runner.run(run, signal));
    }
    const { profile } = run.enforcement;
    const guard = profile === "read" ? undefined : await this.#runner.up();
    const first = await this.#standbys.take(profile);
    try {
      if (isInBackground(run)) return await use(() => this.#startInBackground(run, first, guard));
      if (isGitTool(run.tool)) return await use((_, signal) => runGitTool(run, this.#sandboxes(first), this.#workspace, signal));
      return await use((takeOutput, signal) =>
        runShellCommand(run, { sandbox: first, guard, held: this.#held, workspace: this.#workspace }, takeOutput, signal),
      );
    } finally {
      // It has ended by now; what is left is to give its limits back to the system, for which nobody has to wait.
      if (!isInBackground(run)) void first.close();
      this.#prepareSoon(profile);
    }
  }

  /** The one that is up already, then others like it: a git tool runs git more than once. */
  #sandboxes(first: CommandSandbox): () => Promise<CommandSandbox> {
    let next: CommandSandbox | undefined = first;
    return async () => {
      const sandbox = next ?? (await this.#standbys.take("read"));
      next = undefined;
      return sandbox;
    };
  }

  async #startInBackground(run: ToolRun, sandbox: CommandSandbox, guard: Runner | undefined): Promise<ToolResult> {
    const room = { sandbox, guard, held: this.#held, workspace: this.#workspace };
    return startInBackground(run, room, this.processes);
  }

  #prepareSoon(profile: SandboxProfile): void {
    clearTimeout(this.#next);
    this.#next = setTimeout(() => this.#standbys.prepare(profile, STANDING_BY_AFTER_A_COMMAND), PAUSE_BEFORE_STANDBY_MILLISECONDS).unref();
  }

  #watchIdle(): void {
    clearTimeout(this.#idle);
    if (this.#isClosed || this.#users > 0) return;
    this.#idle = setTimeout(() => (this.isInUse ? this.#watchIdle() : void this.stop()), this.#idleMilliseconds).unref();
  }
}

function inUse(): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_in_use",
    message: "Something still runs in the workspace of this session.",
    advice: "Wait for it, or stop it: `hlvm session processes ID` lists what runs in the background.",
  });
}
