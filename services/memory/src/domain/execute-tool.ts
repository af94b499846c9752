import { canonicalArguments, type CanonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { GrantedCall } from "@hlvm/grant/grant-gate";
import { checkArguments } from "@hlvm/tools/check-arguments";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import { memoryTool, type MemoryToolPorts } from "./memory-tools.ts";
import { failedOutcome } from "./failed-outcome.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import { isTranscriptTool, transcriptTool } from "./transcript-tools.ts";
import type { TranscriptStore } from "./transcripts/transcript-store.ts";
import { isWikiTool, wikiTool } from "./wiki-tools.ts";
import type { WikiStore } from "./wiki/wiki-store.ts";
import type { Viewer } from "./viewer.ts";

/** One use of a tool, as the orchestrator sends it. */
export interface ToolCall {
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly argumentsJson: string;
  readonly definitionHash: string;
}

/** Lets a call through once, with a grant for exactly this call. */
export interface Gate {
  /** @throws HlvmError `grant_refused` */
  pass(grant: string, call: GrantedCall): void;
}

export type ToolPorts = MemoryToolPorts & { readonly gate: Gate; readonly transcripts: TranscriptStore; readonly wiki: WikiStore };

/**
 * Executes a memory tool for a run. What the model can act on comes back as a failed outcome; a call that must not be
 * executed is refused.
 * @throws HlvmError `tool_unknown`, `definition_changed`, `grant_refused`, `invalid_arguments` (not a JSON object),
 * `call_id_reused`
 */
export async function executeTool(
  ports: ToolPorts,
  viewer: Viewer,
  call: ToolCall,
  grant: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const tool = knownTool(call);
  const given = canonicalArguments(call.argumentsJson);
  ports.gate.pass(grant, grantedCall(viewer, call, given));
  try {
    checkArguments(tool, given.value);
    if (isTranscriptTool(tool.name)) return await transcriptTool(tool.name, ports.transcripts, viewer, given.value);
    if (isWikiTool(tool.name)) {
      const { sessionId, runId, callId } = call;
      return await wikiTool(tool.name, ports.wiki, { ...viewer, call: { sessionId, runId, callId } }, given.value);
    }
    return await memoryTool(tool.name, ports, viewer, given, call, signal);
  } catch (cause) {
    return failedOutcome(tool.name, cause);
  }
}

function knownTool(call: ToolCall): ToolDefinition {
  const tool = findNativeTool(call.tool);
  if (tool?.executor !== "memory")
    throw new HlvmError({
      code: "invalid_argument",
      reason: "tool_unknown",
      message: `${call.tool} is not a tool of memory.`,
      advice: "Send it to the executor that its definition names.",
    });
  if (definitionHash(tool) !== call.definitionHash)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "definition_changed",
      message: `The caller knows another definition of ${call.tool} than the one that would run.`,
      advice: "Run the same release of every service; restart the mesh after an update.",
    });
  return tool;
}

function grantedCall(viewer: Viewer, call: ToolCall, given: CanonicalArguments): GrantedCall {
  const { sessionId, runId, callId, tool } = call;
  return {
    organization: viewer.organization,
    principal: viewer.principal,
    sessionId,
    runId,
    callId,
    tool,
    definitionHash: call.definitionHash,
    argumentsHash: given.hash,
  };
}
