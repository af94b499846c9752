export type Decision = "allow" | "ask" | "deny";

/** In the order in which they are asked, but for `in_doubt` and `trust_floor`, which follow the deny list; `approval` is a person's answer. */
export type DecidingStep =
  | "definition"
  | "deny_list"
  | "explicit_allow"
  | "read_only"
  | "destructive"
  | "command_safety"
  | "mode"
  | "approval"
  | "trust_floor"
  | "in_doubt";

export type PermissionMode = "default" | "plan" | "acceptEdits" | "bypassPermissions" | "dontAsk";

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
