import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Part, ToolResultPartSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust, type ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Provenance } from "../context/provenance.ts";
import { summarizeJson } from "../tools/summarize-arguments.ts";
import type { FoldedEvent } from "./conversation.ts";

const SHORTENED = "longer than the tool or the run may give";
const CANCELLED = "Cancelled: the run was stopped before this call had a result. It may or may not have taken effect.";

type Call = { readonly callId: string; readonly id: string; readonly tool: string; readonly argumentsJson: string };

/** An answer of the model whose calls may still lack results. */
export interface OpenTurn {
  readonly calls: readonly Call[];
  /** By call: each is made once, so that its tokens are estimated once. */
  readonly results: Map<string, Part>;
  readonly event: FoldedEvent;
}

/** What the model is told of one call. */
interface ToldResult {
  readonly about: Omit<Provenance, "sequence" | "at">;
  readonly value: MessageInitShape<typeof ToolResultPartSchema>;
}

/** @param result undefined of a call that was cancelled before it had one */
export function toldResult({ id, tool, argumentsJson }: Call, result?: ToolResult): ToldResult {
  const content = result?.content ?? CANCELLED;
  const described = { tool, argumentsSummary: summarizeJson(argumentsJson), length: content.length, isPutAside: false };
  return {
    about: {
      source: tool,
      trust: result?.trust || Trust.VERIFIED,
      kind: ContextKind.EVIDENCE,
      ...(result === undefined ? {} : { result: described }),
      ...(result?.truncated === true ? { cut: SHORTENED } : {}),
    },
    value: { id, tool, content, isError: result?.success !== true },
  };
}
