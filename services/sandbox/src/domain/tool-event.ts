/** A piece of output while a tool runs. */
export interface ToolOutput {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

/** A change of protected paths that was put back, as the arguments of `keep_changes` name and show it. */
export interface HeldChange {
  readonly change_id: string;
  readonly paths: readonly string[];
  readonly diff: string;
}

/** What a tool call came to. */
export interface ToolResult {
  readonly success: boolean;
  /** For the model. */
  readonly content: string;
  /** One line for people. */
  readonly summary: string;
  /** Empty on success; the words are listed at `ToolResult` in hlvm.tool.v1. */
  readonly errorCode: string;
  readonly durationMilliseconds: number;
  /** Size of the whole result before it was cut for the model. */
  readonly resultBytes: number;
  readonly truncated: boolean;
  /** Of a process that exited by itself. */
  readonly exitCode?: number;
  /** What the call changed and may not change without a person's word. */
  readonly heldChange?: HeldChange;
}

/** What a caller sees of a call: while it waits for room its place in line, then output as it comes, last and exactly once the result. */
export type ToolEvent =
  | { readonly kind: "waiting"; readonly position: number }
  | { readonly kind: "output"; readonly output: ToolOutput }
  | { readonly kind: "result"; readonly result: ToolResult };

export function succeeded(content: string, summary: string): ToolResult {
  const resultBytes = Buffer.byteLength(content);
  return { success: true, content, summary, errorCode: "", durationMilliseconds: 0, resultBytes, truncated: false };
}

/** A result for a tool that could not come to an end by itself. */
export function failedResult(errorCode: string, message: string, durationMilliseconds: number): ToolResult {
  return {
    success: false,
    content: message,
    summary: message,
    errorCode,
    durationMilliseconds,
    resultBytes: Buffer.byteLength(message),
    truncated: false,
  };
}
