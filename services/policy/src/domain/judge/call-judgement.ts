import type { JsonValue } from "@hlvm/canonical-json/canonical-json";
import type { SafetyLevel, ToolDefinition } from "@hlvm/tools/tool-definition";

/** Something that is asked or denied in every mode. */
export interface Danger {
  readonly decision: "ask" | "deny";
  /** A few stable words. */
  readonly rule: string;
  /** A sentence for a person. */
  readonly reason: string;
}

/** How much harm one call can do, judged from its arguments. */
export interface CallJudgement {
  readonly level: SafetyLevel;
  /** What makes it destructive, in a few words: `rm`, `git reset --hard`. */
  readonly destructive?: string;
  readonly danger?: Danger;
  /** What a person's "always for this session" may be said of; empty where the tool and its level say all. */
  readonly scope: readonly string[];
}

/** Undefined where an argument that has to be judged is missing. */
export type JudgeCall = (tool: ToolDefinition, values: { readonly [name: string]: JsonValue }) => Promise<CallJudgement | undefined>;
