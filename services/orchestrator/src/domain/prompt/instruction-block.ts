import { posix } from "node:path";
import { InstructionOrigin, type Instruction } from "@hlvm/proto/hlvm/session/v1/event_pb";

/**
 * A file with instructions as the model reads it. Nothing in its text can end the block, or begin one in another's name.
 * @param replaces whether the model has an earlier text of this file before it
 */
export function instructionBlock({ path, origin, text }: Pick<Instruction, "path" | "origin" | "text">, replaces = false): string {
  const words = text.replaceAll(/<(?=\s*\/?\s*instructions)/gi, "‹").trim();
  return `<instructions from=${JSON.stringify(path)} about=${JSON.stringify(aboutOf(path, origin))}${replaces ? ' replaces="the earlier block of this file"' : ""}>
${words}
</instructions>`;
}

function aboutOf(path: string, origin: InstructionOrigin): string {
  if (origin === InstructionOrigin.PERSON) return "everything that this user asks for";
  const folder = posix.dirname(path);
  return folder === "." || folder === ".hlvm" ? "the whole workspace" : `files below ${folder}/`;
}
