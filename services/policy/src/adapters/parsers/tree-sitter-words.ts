import { createRequire } from "node:module";
import type { Node } from "web-tree-sitter";
import { joinWords, shellWord, type ShellWord } from "../../domain/shell/shell-word.ts";
import { redirection, type CommandPart, type Redirection, type WordReader } from "../../domain/shell/word-reader.ts";

const GRAMMAR = createRequire(import.meta.url).resolve("tree-sitter-bash/tree-sitter-bash.wasm");
const JOINING = new Set(["program", "list", "pipeline"]);
const OPERATORS = new Set(["&&", "||", ";", "|"]);
const TEST_EXPRESSIONS = new Set(["unary_expression", "binary_expression", "parenthesized_expression"]);

/** Reads words with tree-sitter-bash, whose grammar is loaded once: about 20 ms and 16 MB. */
export async function loadTreeSitterWords(): Promise<WordReader> {
  const { Language, Parser } = await import("web-tree-sitter");
  await Parser.init();
  const parser = new Parser().setLanguage(await Language.load(GRAMMAR));
  return (command) => {
    const tree = parser.parse(command);
    if (tree === null) return undefined;
    try {
      const parts: MutablePart[] = [];
      return !tree.rootNode.hasError && collect(tree.rootNode, parts) ? parts : undefined;
    } finally {
      tree.delete();
    }
  };
}

interface MutablePart extends CommandPart {
  readonly words: ShellWord[];
  readonly redirections: Redirection[];
}

function collect(node: Node, parts: MutablePart[]): boolean {
  // A left-nested list is as deep as it is long: walked without recursion, so that 5,000 parts are no problem.
  const pending: Node[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    // The grammar hangs a redirection on the whole list before it, the shell on its last command, which is read by then.
    if (JOINING.has(next.type) || next.type === "redirected_statement") pending.push(...presentChildren(next).toReversed());
    else if (next.type === "command") {
      if (!addCommand(presentChildren(next), parts)) return false;
    } else if (next.type === "test_command") {
      if (!addCommand(testWords(next), parts)) return false;
    } else if (next.type === "file_redirect") {
      if (!addRedirection(next, parts.at(-1))) return false;
    } else if (!OPERATORS.has(next.type)) return false;
  }
  return true;
}

function addCommand(nodes: readonly Node[], parts: MutablePart[]): boolean {
  const words = nodes.map(wordOf);
  if (words.includes(undefined)) return false;
  parts.push({ words: words as ShellWord[], redirections: [] });
  return true;
}

/** The grammar takes the words after a redirection's target into it; to the program they are arguments. */
function addRedirection(node: Node, part: MutablePart | undefined): boolean {
  const children = presentChildren(node);
  const descriptor = children[0]?.type === "file_descriptor" ? children.shift()!.text : undefined;
  const operator = children.shift()?.text ?? "";
  const [target, ...further] = children.map(wordOf);
  if (part === undefined || target === undefined || target.expansion !== undefined || further.includes(undefined)) return false;
  part.redirections.push(redirection(operator, descriptor === undefined ? undefined : Number(descriptor), target.text));
  part.words.push(...(further as ShellWord[]));
  return true;
}

/** `[ … ]`, which the grammar reads as an expression and the shell as the words of a program. */
function testWords(node: Node): Node[] {
  return presentChildren(node).flatMap((child) => (TEST_EXPRESSIONS.has(child.type) ? testWords(child) : [child]));
}

/** A word with its quotes off; undefined where it is anything but text, globs and plain variables. */
function wordOf(node: Node): ShellWord | undefined {
  if (node.type === "command_name" && node.childCount === 1) return wordOf(node.firstChild!);
  if (node.type === "word" || node.type === "extglob_pattern") return plainWord(node.text);
  if (node.type === "number" || node.type === "test_operator" || !node.isNamed) return shellWord(node.text);
  if (node.type === "raw_string") return shellWord(node.text.slice(1, -1));
  if (node.type === "string") return quotedWord(node);
  if (node.type === "simple_expansion") return shellWord(node.text, "split");
  if (node.type !== "concatenation") return undefined;
  const pieces = presentChildren(node).map((child) => wordOf(child));
  if (pieces.includes(undefined)) return undefined;
  const word = joinWords(pieces as ShellWord[]);
  // The grammar takes the brackets of a glob for pieces of their own.
  const isBracket = presentChildren(node).some((child) => child.text === "[" || child.text === "]");
  return isBracket ? joinWords([word, shellWord("", "glob")]) : word;
}

function plainWord(text: string): ShellWord {
  const isGlob = /(?<!\\)[*?]/.test(text);
  return shellWord(text.replaceAll(/\\(.)/g, "$1"), isGlob ? "glob" : undefined);
}

function quotedWord(node: Node): ShellWord | undefined {
  let expands = false;
  for (const child of node.namedChildren) {
    const isVariable = child !== null && /^\$([A-Za-z_]\w*|\{[A-Za-z_]\w*\})$/.test(child.text);
    if (child?.type !== "string_content" && !isVariable) return undefined;
    expands ||= child.type !== "string_content";
  }
  return shellWord(node.text.slice(1, -1).replaceAll(/\\([$`"\\])/g, "$1"), expands ? "variable" : undefined);
}

function presentChildren(node: Node): Node[] {
  return node.children.filter((child) => child !== null);
}
