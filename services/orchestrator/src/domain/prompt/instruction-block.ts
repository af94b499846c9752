import { posix } from "node:path";
import { isHidden, standIn } from "@hlvm/visible-text/hidden-character";
import { InstructionOrigin, type Instruction } from "@hlvm/proto/hlvm/session/v1/event_pb";

/**
 * A file with instructions as the model reads it. Nothing in its text or its name can end the block, or begin one in another's name.
 * @param replaces whether the model has an earlier text of this file before it
 */
export function instructionBlock({ path, origin, text }: Pick<Instruction, "path" | "origin" | "text">, replaces = false): string {
  return `<instructions from=${attribute(path)} about=${attribute(aboutOf(path, origin))}${replaces ? ' replaces="the earlier block of this file"' : ""}>
${withoutTags(text).trim()}
</instructions>`;
}

function withoutTags(text: string): string {
  return text.replaceAll(/<(?=\s*\/?\s*instructions)/gi, "‹");
}

/** Folders have any name that whoever made them chose. */
function attribute(text: string): string {
  const visible = Array.from(text, (character) => (isHidden(character) ? `⟦${standIn(character)}⟧` : character)).join("");
  return JSON.stringify(withoutTags(visible));
}

function aboutOf(path: string, origin: InstructionOrigin): string {
  if (origin === InstructionOrigin.PERSON) return "everything that this user asks for";
  const folder = posix.dirname(path);
  return folder === "." || folder === ".hlvm" ? "the whole workspace" : `files below ${folder}/`;
}
