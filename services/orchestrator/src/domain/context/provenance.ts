import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust, type TrustFloor, type ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";

/** The source of what the platform tells a model in the midst of a run. */
export const REMINDER = "reminder";

/** Where a part of the context comes from. */
export interface Provenance {
  /** For people: `user:ada`, `read_file`, `model`. */
  readonly source: string;
  readonly trust: Trust;
  readonly kind: ContextKind;
  /** Of the event that it comes from; 0 where it comes from none, or from one that is not known to be in the log yet. */
  readonly sequence: bigint;
  readonly at?: Timestamp;
  /** Why the model has only a part of it; left out where it has all. */
  readonly cut?: string;
  /** Of an image or document: the SHA-256 of its bytes, hex, and how many there are. */
  readonly file?: { readonly sha256: string; readonly size: number };
  /** Of a tool's result. */
  readonly result?: { readonly tool: string; readonly argumentsSummary: string; readonly length: number; readonly isPutAside: boolean };
}

/** The platform's own executors, which see the workspace and the session and nothing else. */
const OWN_EXECUTORS: ReadonlySet<string> = new Set(["sandbox", "orchestrator"]);

/** How far what a tool gives can be trusted. A tool that nobody classified comes from outside. */
function trustOfTool(definition: ToolDefinition): Trust {
  if (definition.trustTier !== "built-in") return Trust.EXTERNAL;
  if (definition.executor === "memory") return Trust.INFERRED;
  return OWN_EXECUTORS.has(definition.executor) ? Trust.VERIFIED : Trust.EXTERNAL;
}

/** A result with how far it can be trusted: what its executor says of it can only lower that. */
export function withTrust(result: ToolResult, definition: ToolDefinition): ToolResult {
  return { ...result, trust: Math.max(result.trust, trustOfTool(definition)) as Trust };
}

/** The lower of two floors; the first where they are alike, since it was there first. */
export function lowerFloor(one: TrustFloor | undefined, other: TrustFloor | undefined): TrustFloor | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.trust > one.trust ? other : one;
}

const KINDS: readonly ContextKind[] = [ContextKind.INSTRUCTION, ContextKind.EVIDENCE, ContextKind.SUMMARY, ContextKind.RAW];
const rankOf = (kind: ContextKind): number => KINDS.indexOf(kind);

/** Orders what stays longest first: instruction, evidence, summary, raw; within each the more trusted, then the later. */
export function compareWorth(one: Provenance, other: Provenance): number {
  const byKind = rankOf(one.kind) - rankOf(other.kind);
  if (byKind !== 0) return byKind;
  return one.trust === other.trust ? Number(other.sequence - one.sequence) : one.trust - other.trust;
}
