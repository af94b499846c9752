import { defineTool } from "./define-tool.ts";

/** Asks for a change of protected paths that a command made and that was put back: a person sees the diff, and allows it or not. */
export const keepChanges = defineTool({
  name: "keep_changes",
  description: "Make a change again that was put back because programs outside of the sandbox obey the files.",
  arguments: {
    change_id: { type: "string", description: "The change's id.", minLength: 36, maxLength: 36 },
    paths: { type: "array", description: "What it changes, relative to the workspace.", items: { type: "string" }, maxItems: 1_000 },
    diff: { type: "string", description: "What it changes there.", maxLength: 262_144 },
  },
  category: "write",
  safetyLevel: "L2",
  sideEffects: "mutating",
  executor: "sandbox",
});

/** Tools that the platform itself calls; no model is shown them. */
export const platformTools = [keepChanges];
