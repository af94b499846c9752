import type { ToolOutput, ToolResult } from "./tool-event.ts";
import type { WorkspaceFolder } from "./workspace-folder.ts";

/** What a sandbox is made for. */
export interface SandboxRequest {
  readonly sessionId: string;
  readonly workspace: Pick<WorkspaceFolder, "path" | "identity">;
}

/** One tool call, decided and checked. */
export interface ToolRun {
  readonly callId: string;
  readonly tool: string;
  /** The canonical form: the bytes that were granted. */
  readonly argumentsJson: string;
  readonly timeoutMilliseconds: number;
}

/** A session's own sandbox: isolated, resident, able to run calls in parallel. */
export interface SessionSandbox {
  /**
   * Runs a call. What a tool does is a result, also where the sandbox ends under it (`unavailable`, `out_of_memory`).
   * Aborting the signal ends the tool and everything it started; the result then says `cancelled`.
   */
  readonly run: (run: ToolRun, onOutput: (output: ToolOutput) => void, signal: AbortSignal) => Promise<ToolResult>;
  /** Resolves when it takes no call any more: it is being ended, or has ended. */
  readonly ending: Promise<void>;
  /** Resolves when nothing of the sandbox is left, whoever ended it. */
  readonly ended: Promise<void>;
  readonly close: () => Promise<void>;
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
  readonly start: (request: SandboxRequest) => Promise<SessionSandbox>;
  readonly describe: () => IsolationDescription;
}
