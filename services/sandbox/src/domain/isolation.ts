import type {
  RestoredPath,
  RunnerResponse_Compared,
  RunnerResponse_Instructions,
  RunnerResponse_Previewed,
} from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import type { Enforcement, SandboxProfile } from "@hlvm/grant/grant";
import type { ProtectedChange } from "./protected-change.ts";
import type { ToolOutput, ToolResult } from "./tool-event.ts";
import type { WorkspaceFolder } from "./workspace-folder.ts";

/** What a sandbox is made for. */
export interface SandboxRequest {
  readonly sessionId: string;
  readonly workspace: Pick<WorkspaceFolder, "path" | "identity" | "image">;
}

/** One tool call, decided and checked. */
export interface ToolRun {
  readonly callId: string;
  readonly tool: string;
  /** The canonical form: the bytes that were granted. */
  readonly argumentsJson: string;
  readonly timeoutMilliseconds: number;
  /** What its grant holds it to. */
  readonly enforcement: Enforcement;
  /** The turn that made it; empty: no checkpoint is made for it. */
  readonly checkpoint?: string;
}

/** Takes what a tool prints while it runs. */
export type TakeOutput = (output: ToolOutput) => void;

/** A sandbox of a session: it ends with everything in it. */
export interface Sandbox {
  /** Resolves when it takes no call any more: it is being ended, or has ended. */
  readonly ending: Promise<void>;
  /** Resolves when nothing of the sandbox is left, whoever ended it. */
  readonly ended: Promise<void>;
  readonly close: () => Promise<void>;
}

/** A session's own runner: file tools and search, and the guard of the protected paths. No command can reach it. */
export interface Runner extends Sandbox {
  /**
   * Runs a call of a file tool. What a tool does is a result, also where the sandbox ends under it (`unavailable`,
   * `out_of_memory`).
   */
  readonly run: (run: ToolRun, signal: AbortSignal) => Promise<ToolResult>;
  /** Notes what stands at the protected paths, before a command that may write. */
  readonly protect: (callId: string) => Promise<void>;
  /** Puts back what has changed there since. @param keepWatching the command is still running */
  readonly restore: (callId: string, keepWatching: boolean) => Promise<readonly ProtectedChange[]>;
  /** Makes changes again that were put back. @returns why it cannot be done; empty where it was */
  readonly apply: (callId: string, changes: readonly ProtectedChange[]) => Promise<string>;
  /**
   * Notes what the workspace holds.
   * @param turn the one that is about to write; empty: its writing is done
   * @returns why it could not be noted; empty where it was
   */
  readonly checkpoint: (turn: string) => Promise<string>;
  /** Has the workspace go back to before the first of some turns. */
  readonly rewind: (request: RewindRequest) => Promise<Rewound>;
  /** What the workspace holds otherwise than at its first checkpoint. */
  readonly compare: () => Promise<Compared>;
  /** What a call of a file tool would change; it changes nothing. */
  readonly preview: (tool: string, argumentsJson: string) => Promise<Previewed>;
  /** The files with instructions for the agent. */
  readonly readInstructions: (asked: InstructionsAsked) => Promise<FoundInstructions>;
}

export interface InstructionsAsked {
  /** Relative to the workspace. */
  readonly folders: readonly string[];
  /** Of the whole workspace instead, with the profiles of agents. */
  readonly all: boolean;
  /** Instead those profiles alone. */
  readonly profiles: boolean;
}

/** As the runner tells it. */
export type FoundInstructions = Pick<RunnerResponse_Instructions, "files" | "more" | "identity">;

export interface RewindRequest {
  readonly turns: readonly string[];
  readonly preview: boolean;
  /** Also what others than the session's calls changed since. */
  readonly overwrite: boolean;
}

export interface Rewound {
  /** Empty, or why nothing was done. */
  readonly failure: string;
  /** The first of them. */
  readonly paths: RestoredPath[];
  readonly pathCount: number;
  /** Of the first of the turns nothing is kept any more. */
  readonly incomplete: boolean;
}

/** As the runner tells it. */
export type Previewed = Pick<RunnerResponse_Previewed, "failure" | "presentSha256" | "presentBytes" | "before" | "after">;

/** As the runner tells it. */
export type Compared = Pick<RunnerResponse_Compared, "failure" | "changes" | "changeCount">;

/** A command line for the shell, or a program with its arguments, and where it starts. No NUL is in it. */
export type Command = ({ readonly text: string } | { readonly program: readonly string[] }) & {
  /** Absolute, inside the sandbox. */
  readonly directory: string;
};

export interface CommandWatch {
  /** Aborted, everything in the sandbox ends. */
  readonly signal: AbortSignal;
  /** Return false to end the command: enough was read. */
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => boolean;
}

/** How a command ended, with all that it started. */
export interface CommandEnd {
  /** 128 and more: by a signal. Left out where the sandbox was ended from outside. */
  readonly exitCode?: number;
  readonly wasCut: boolean;
  /** Where it could not start in its folder: the command did not run. */
  readonly refusal?: "folder_missing" | "folder_outside";
  readonly outOfMemory: boolean;
  readonly outOfProcesses: boolean;
}

/** A sandbox for a single command: it stands by, runs the one, and ends with it. */
export interface CommandSandbox extends Sandbox {
  /**
   * Comes back when the command and all that it started have ended.
   * @throws the reason of the signal; then too all has ended
   */
  readonly run: (command: Command, watch: CommandWatch) => Promise<CommandEnd>;
}

export interface IsolationFeature {
  readonly name: string;
  readonly isActive: boolean;
  /** How it is reached, or what is missing and how to get it. */
  readonly detail: string;
}

export interface IsolationDescription {
  readonly driver: string;
  readonly driverVersion: string;
  readonly features: readonly IsolationFeature[];
}

/** A way to isolate processes on this machine. */
export interface Isolation {
  /** @throws HlvmError `sandbox_not_started`, `workspace_replaced` where the path leads to another folder by now */
  readonly startRunner: (request: SandboxRequest) => Promise<Runner>;
  /**
   * Makes a sandbox that stands by for one command.
   * @param wanted resolves when a command wants it, before it runs there: until then its processes leave the processors to what
   * is at work. Left out: one wants it already.
   * @throws as `startRunner` does
   */
  readonly startCommand: (request: SandboxRequest, profile: SandboxProfile, wanted?: Promise<void>) => Promise<CommandSandbox>;
  /** Gives a session, whose workspace is a copy of another's, that one's checkpoints, which it has none of its own yet. */
  readonly copyCheckpoints: (from: SandboxRequest, to: SandboxRequest) => Promise<void>;
  /** Removes what the session keeps besides its workspace: the home of its open commands. */
  readonly forget: (sessionId: string) => Promise<void>;
  readonly describe: () => IsolationDescription;
}
