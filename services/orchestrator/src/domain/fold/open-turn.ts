import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ToolResultPartSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ToolEnd } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Provenance } from "../context/provenance.ts";
import { summarizeJson } from "../tools/summarize-arguments.ts";
import type { FoldedEvent } from "./conversation.ts";

const SHORTENED = "longer than the tool or the run may give";
const CANCELLED = "Cancelled: the run was stopped before this call had a result. It may or may not have taken effect.";

/** An answer of the model whose calls may still lack results. */
export interface OpenTurn {
  readonly calls: readonly { readonly callId: string; readonly id: string; readonly tool: string; readonly argumentsJson: string }[];
  readonly results: Map<string, { readonly end: ToolEnd; readonly event: FoldedEvent }>;
  readonly event: FoldedEvent;
}

/** What the model is told of one call. */
interface ToldResult {
  readonly event: FoldedEvent;
  readonly about: Omit<Provenance, "sequence" | "at">;
  readonly value: MessageInitShape<typeof ToolResultPartSchema>;
}

/** One for each call, in their order: what has none has been cancelled. */
export function resultsOf({ calls, results, event }: OpenTurn): ToldResult[] {
  return calls.map(({ callId, id, tool, argumentsJson }) => {
    const found = results.get(callId);
    const result = found?.end.result;
    const content = result?.content ?? CANCELLED;
    const described = { tool, argumentsSummary: summarizeJson(argumentsJson), length: content.length, isPutAside: false };
    return {
      event: found?.event ?? event,
      about: {
        source: tool,
        trust: result?.trust || Trust.VERIFIED,
        kind: ContextKind.EVIDENCE,
        ...(found === undefined ? {} : { result: described }),
        ...(result?.truncated === true ? { cut: SHORTENED } : {}),
      },
      value: { id, tool, content, isError: result?.success !== true },
    };
  });
}
