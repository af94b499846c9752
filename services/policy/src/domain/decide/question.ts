import type { CanonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { SafetyLevel, ToolDefinition } from "@hlvm/tools/tool-definition";
import type { CallJudgement } from "../judge/call-judgement.ts";
import type { DecidingStep, PermissionSettings, Ruling } from "./decision.ts";

/** A call whose tool is known and pinned, and whose arguments are canonical and judged: what the steps after the first see. */
export interface ResolvedCall {
  readonly definition: ToolDefinition;
  readonly definitionHash: string;
  readonly arguments: CanonicalArguments;
  readonly judgement: CallJudgement;
}

/** "Always for this session", as a person once answered it. */
export interface SessionAllowance {
  readonly tool: string;
  readonly level: SafetyLevel;
  /** For shell_exec at L2: the only commands that it covers; see `commandScope`. */
  readonly scope: readonly string[];
  /** Which step had asked. */
  readonly step: DecidingStep;
}

export interface Question {
  readonly call: ResolvedCall;
  readonly settings: PermissionSettings;
  readonly allowances: readonly SessionAllowance[];
  /** The fragment from outside that is in the context in which the model made the call; undefined where there is none. */
  readonly externalSource?: string;
  /** The call that this one would make once more, and of which nobody knows whether it took effect. */
  readonly repeats?: string;
}

/** One step of the pipeline: it answers, or leaves the question to the next. */
export type Step = (question: Question) => Ruling | undefined;
