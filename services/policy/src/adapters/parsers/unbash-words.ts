import {
  parse,
  type CommandArgument,
  type DoubleQuotedPart,
  type Redirection as RedirectionNode,
  type Statement,
  type WordPart,
} from "unbash";
import { joinWords, shellWord, type ShellWord } from "../../domain/shell/shell-word.ts";
import { redirection, type CommandPart, type Redirection, type WordReader } from "../../domain/shell/word-reader.ts";

type CommandNode = Statement["command"];

/** Reads words with unbash. */
export const unbashWords: WordReader = (command) => {
  const script = parse(command);
  if ((script.errors?.length ?? 0) > 0) return undefined;
  const parts: CommandPart[] = [];
  const isRead = script.commands.every((statement) => statement.background !== true && collect(statement.command, parts));
  return isRead ? parts : undefined;
};

function collect(node: CommandNode, parts: CommandPart[]): boolean {
  if (node.type === "AndOr") return node.commands.every((child) => collect(child, parts));
  if (node.type === "Pipeline")
    return (
      node.prefixes.length === 0 &&
      node.operators.every((operator) => operator === "|") &&
      node.commands.every((child) => collect(child, parts))
    );
  if (node.type !== "Command" || node.name === undefined || node.prefix.length > 0) return false;
  const words = [node.name, ...node.args].map(wordOf);
  const redirections = node.redirects.map(redirectionOf);
  if (words.includes(undefined) || redirections.includes(undefined)) return false;
  parts.push({ words: words as ShellWord[], redirections: redirections as Redirection[] });
  return true;
}

function wordOf(word: CommandArgument): ShellWord | undefined {
  // An assignment as an argument (`dd if=x`) is a word like any other to the program that gets it, where nothing expands in it.
  if (word.type === "Assignment") return /^[\w./:=@%+,-]*$/.test(word.text) ? shellWord(word.text) : undefined;
  const pieces = (word.parts ?? []).map(pieceOf);
  if (pieces.includes(undefined)) return undefined;
  return shellWord(word.value, joinWords(pieces as ShellWord[]).expansion);
}

function pieceOf(part: WordPart): ShellWord | undefined {
  if (part.type === "Literal" || part.type === "SingleQuoted") return shellWord(part.value);
  if (part.type === "Glob") return shellWord(part.text, "glob");
  if (part.type === "SimpleExpansion") return isVariable(part.text) || part.text === "$?" ? shellWord(part.text, "split") : undefined;
  return part.type === "DoubleQuoted" ? quotedPiece(part) : undefined;
}

function quotedPiece({ text, parts }: DoubleQuotedPart): ShellWord | undefined {
  if (parts.every((part) => part.type === "Literal")) return shellWord(text);
  return parts.every((part) => part.type === "Literal" || isVariable(part.text)) ? shellWord(text, "variable") : undefined;
}

function isVariable(text: string): boolean {
  return /^\$([A-Za-z_]\w*|\{[A-Za-z_]\w*\})$/.test(text);
}

function redirectionOf(node: RedirectionNode): Redirection | undefined {
  if (node.type !== "Redirect" || node.target === undefined || node.descriptor?.type === "FileDescriptorVariable") return undefined;
  const target = wordOf(node.target);
  if (target === undefined || target.expansion !== undefined) return undefined;
  return redirection(node.operator, node.descriptor?.value, target.text);
}
