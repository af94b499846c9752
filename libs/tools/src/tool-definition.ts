/** L0 reads; L1 changes the workspace or memory in a way that can be taken back; L2 is anything else. */
export type SafetyLevel = "L0" | "L1" | "L2";
export type ToolCategory = "read" | "write" | "search" | "shell" | "git" | "memory" | "meta";
export type TrustTier = "built-in" | "plugin" | "skill";

export interface ToolArgument {
  readonly type: "string" | "integer" | "boolean" | "array";
  readonly description: string;
  readonly enum?: readonly string[];
  readonly items?: { readonly type: "string"; readonly maxLength?: number } | InputSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** A JSON Schema of an object, in the part of the language that every provider takes. */
export interface InputSchema {
  readonly type: "object";
  readonly properties: { readonly [name: string]: ToolArgument };
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** All that is known of a tool before it runs; its hash is what policy pins and a grant is bound to. */
export interface ToolDefinition {
  readonly name: string;
  /** For the model. */
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly category: ToolCategory;
  /** Of shell_exec the highest level that a command can have; policy judges each command. */
  readonly safetyLevel: SafetyLevel;
  readonly sideEffects: "read-only" | "mutating" | "destructive";
  readonly trustTier: TrustTier;
  /** Who runs it, and so who checks the grant. */
  readonly executor: "sandbox" | "memory" | "orchestrator";
  readonly timeoutMilliseconds: number;
  /** The call is a question to a person: they are asked in every mode, and their answer is its result. */
  readonly asksPerson?: "plan" | "question";
  /** The shell command that a model would otherwise use. */
  readonly replaces?: string;
}
