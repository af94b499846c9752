import type { PermissionModeName } from "@hlvm/ndjson/permission-mode-name";
import type { decidingStepWords, decisionWords } from "@hlvm/proto/hlvm/policy/v1/policy_words";

export type Decision = (typeof decisionWords)[number];

/** In the order in which they are asked, but for `in_doubt` and `trust_floor`, which follow the deny list; `approval` is a person's answer. */
export type DecidingStep = (typeof decidingStepWords)[number];

export type PermissionMode = PermissionModeName;

/** What a session's owner set for one run. */
export interface PermissionSettings {
  readonly mode: PermissionMode;
  /** Tool names; a name may end in `*`. */
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  /** False where nobody can be asked; an ask then becomes a deny. */
  readonly canAsk: boolean;
  /** Nothing but these may be used; undefined: no bound. */
  readonly onlyTools?: readonly string[];
  /** What these were narrowed from: a call has to be allowed under both. */
  readonly within?: PermissionSettings;
}

/** The pipeline's answer, and which step and rule gave it. */
export interface Ruling {
  readonly decision: Decision;
  readonly step: DecidingStep;
  /** A few stable words for programs and filters. */
  readonly rule: string;
  /** A sentence for a person. */
  readonly reason: string;
}
