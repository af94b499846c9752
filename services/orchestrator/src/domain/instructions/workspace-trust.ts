/** A file that a workspace would have obeyed, by what is in it. */
export interface WorkspaceFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** SHA-256 of its text, hex. */
  readonly sha256: string;
}

/** `changed`: the person trusted another text of this file. */
export type TrustVerdict = "trusted" | "untrusted" | "changed";

/**
 * Whether what a workspace holds may instruct the agent in this person's name: instructions, profiles, whatever else is obeyed
 * rather than read. Trust is of a person, a workspace and a text; nothing inside a workspace can give it.
 */
export interface WorkspaceTrust {
  /**
   * @param workspace as the sandbox names it
   * @returns a verdict for each file, in order
   * @throws HlvmError where it cannot be asked; nothing is trusted then
   */
  check(workspace: string, files: readonly WorkspaceFile[], signal: AbortSignal): Promise<readonly TrustVerdict[]>;
}
