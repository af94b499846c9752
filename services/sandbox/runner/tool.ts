import type { ToolResultJson } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { toolErrorCodeWords } from "@hlvm/proto/hlvm/tool/v1/tool_words";

export type ToolErrorCode = (typeof toolErrorCodeWords)[number];

/** What a tool gives back: `content` for the model, `summary` for people. */
export interface ToolAnswer {
  readonly content: string;
  readonly summary: string;
  /** Set where the tool ended badly and still has something to show. */
  readonly errorCode?: ToolErrorCode;
  /** Bytes of the whole result; left out, those of `content`. */
  readonly resultBytes?: number;
  readonly truncated?: boolean;
  readonly exitCode?: number;
}

/** What a call may write. */
export interface Writes {
  readonly readOnly: boolean;
  /** The protected paths, relative to the workspace, that it may write. */
  readonly protectedPaths: readonly string[];
  /** Set: the file has to be this one, SHA-256 in hexadecimal; empty: there must be none. */
  readonly expectedSha256?: string;
}

/** What a tool is given besides its arguments. */
export interface ToolContext {
  /** Aborted with a `ToolFailure` as its reason: `timeout` or `cancelled`. */
  readonly signal: AbortSignal;
  /** What the call may write, as its grant says. */
  readonly writes: Writes;
}

/** Arguments were checked against the tool's schema before they came here. */
export type Tool<Arguments> = (given: Arguments, context: ToolContext) => Promise<ToolAnswer>;

/** A tool cannot do what was asked; the message tells the model what to do instead. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
  readonly errorCode: ToolErrorCode;

  constructor(errorCode: ToolErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.errorCode = errorCode;
  }
}

/** The wire form of an answer. The service outside measures the time. */
export function toResult(answer: ToolAnswer): ToolResultJson {
  return {
    success: answer.errorCode === undefined,
    content: answer.content,
    summary: answer.summary,
    errorCode: answer.errorCode ?? "",
    resultBytes: String(answer.resultBytes ?? Buffer.byteLength(answer.content)),
    truncated: answer.truncated ?? false,
    exitCode: answer.exitCode,
  };
}
