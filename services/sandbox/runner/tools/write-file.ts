import { inTurn } from "../in-turn.ts";
import { replaceFile } from "../replace-file.ts";
import type { ToolAnswer, ToolContext } from "../tool.ts";

export interface WriteFileArguments {
  readonly path: string;
  readonly content: string;
}

export async function writeFile(given: WriteFileArguments, context: ToolContext): Promise<ToolAnswer> {
  const done = await inTurn(given.path, () => replaceFile(given.path, given.content, context));
  const lines = given.content === "" ? 0 : given.content.split("\n").length - (given.content.endsWith("\n") ? 1 : 0);
  const summary = `${done}, ${lines} ${lines === 1 ? "line" : "lines"}`;
  return { content: `${given.path} ${summary}, ${Buffer.byteLength(given.content)} bytes.`, summary };
}
