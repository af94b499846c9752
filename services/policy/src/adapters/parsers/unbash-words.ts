import { parse, type Statement } from "unbash";
import type { WordReader } from "../../domain/shell/word-reader.ts";

type CommandNode = Statement["command"];

/** Reads words with unbash. */
export const unbashWords: WordReader = (command) => {
  const script = parse(command);
  if ((script.errors?.length ?? 0) > 0) return undefined;
  const parts: string[][] = [];
  const isLiteral = script.commands.every((statement) => statement.background !== true && collect(statement.command, parts));
  return isLiteral ? parts : undefined;
};

function collect(node: CommandNode, parts: string[][]): boolean {
  if (node.type === "AndOr") return node.commands.every((child) => collect(child, parts));
  if (node.type === "Pipeline")
    return (
      node.prefixes.length === 0 &&
      node.operators.every((operator) => operator === "|") &&
      node.commands.every((child) => collect(child, parts))
    );
  if (node.type !== "Command" || node.name === undefined || node.prefix.length > 0 || node.redirects.length > 0) return false;
  const words: string[] = [];
  for (const word of [node.name, ...node.args]) {
    // An assignment as an argument (`dd if=x`) is a word like any other to the program that gets it.
    if (word.type === "Assignment") words.push(word.text);
    else if ((word.parts ?? []).every((part) => part.type === "Literal" || part.type === "SingleQuoted" || part.type === "DoubleQuoted"))
      words.push(word.value);
    else return false;
  }
  parts.push(words);
  return true;
}
