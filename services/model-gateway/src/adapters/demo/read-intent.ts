import { wordsOf } from "./words-of.ts";

/** What the rules take a question to want. */
export type Intent =
  | { readonly kind: "call"; readonly tool: string; readonly arguments: { readonly [name: string]: unknown } }
  | { readonly kind: "overview"; readonly words: readonly string[] }
  | { readonly kind: "look-up"; readonly terms: readonly string[]; readonly paths: readonly string[] };

const CREATE =
  /^(?:please\s+)?(?:create|write|make)\s+(?:an?\s+)?(?:new\s+)?(?:(file)\s+)?(?:(?:named|called)\s+)?(\S+?)(?:\s+(?:with|containing)\s+(?:the\s+)?(?:text\s+|content\s+)?(.*))?$/is;
const RUN = /^(?:please\s+)?(?:run|execute)\s+(?:the\s+command\s+)?(.+)$/is;
const REMEMBER = /^(?:please\s+)?(?:remember|note)(?:\s+that)?[\s:,]+(.+)$/is;
const RECALL = /\b(?:what|which)\b.*\b(?:remember|know about)\b|^\s*recall\b|\bin (?:your|the) memory\b/is;
const OVERVIEW =
  /\b(?:what|explain|describe|summari[sz]e|tell me about|overview)\b.*\b(?:repo|repository|project|codebase|code base|folder|directory|workspace|package)\b|\boverview\b/is;
const QUOTED = /`([^`\n]+)`|"([^"\n]+)"|'([^'\n]{2,})'/g;
/** camelCase, PascalCase of two words, snake_case, SCREAMING_CASE, a call. */
const IDENTIFIER = /\b(?:[a-z]+[a-z\d]*[A-Z]\w*|[A-Z][a-z\d]+[A-Z]\w*|\w+_\w+|\w+(?=\(\)))/g;
const PATH = /(?:[\w.@-]+\/)+[\w.@-]+|\b[\w-]+\.(?:[cm]?[jt]sx?|json|md|txt|py|rs|go|java|rb|c|h|cpp|ya?ml|toml|sh|sql|proto|html|css)\b/g;
const MOST_TERMS = 2;

export function readIntent(question: string): Intent {
  const asked = question.trim();
  const [, isFile, path = "", content = ""] = CREATE.exec(asked) ?? [];
  if (isFile !== undefined || /\w[./]\w/.test(path))
    return { kind: "call", tool: "write_file", arguments: { path: unquoted(path), content: unquoted(content) } };
  const run = RUN.exec(asked)?.[1];
  if (run !== undefined) return { kind: "call", tool: "shell_exec", arguments: { command: unquoted(run) } };
  if (RECALL.test(asked))
    return { kind: "call", tool: "memory_search", arguments: { query: wordsOf(asked).join(" ") || asked.slice(0, 200) } };
  const remember = REMEMBER.exec(asked)?.[1];
  if (remember !== undefined) return { kind: "call", tool: "memory_write", arguments: { text: unquoted(remember) } };

  const quoted = [...asked.matchAll(QUOTED)].map((match) => match[1] ?? match[2] ?? match[3]!);
  const paths = unique([...asked.matchAll(PATH)].map(([path]) => path));
  const exact = unique([...quoted, ...[...asked.matchAll(IDENTIFIER)].map(([name]) => name)]).filter((term) => !paths.includes(term));
  if (exact.length > 0 || paths.length > 0)
    return { kind: "look-up", terms: exact.slice(0, MOST_TERMS), paths: paths.slice(0, MOST_TERMS) };
  const words = wordsOf(asked);
  if (OVERVIEW.test(asked) || words.length === 0) return { kind: "overview", words: words.slice(0, 1) };
  return { kind: "look-up", terms: words.slice(0, MOST_TERMS), paths: [] };
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  return /^(["'`])([^]*)\1$/.exec(trimmed)?.[2] ?? trimmed;
}
