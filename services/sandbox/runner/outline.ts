import { extname } from "node:path";

const MAXIMUM_ENTRIES = 200;
const ENTRY_CHARACTERS = 120;

const C_LIKE =
  /^(?:export\s+|public\s+|private\s+|protected\s+|internal\s+|static\s+|abstract\s+|final\s+|async\s+|default\s+|declare\s+|pub(?:\([^)]*\))?\s+|unsafe\s+)*(?:class|interface|enum|type|function\*?|struct|union|trait|impl|namespace|module|record|object|protocol|extension|func|fn|macro_rules!|mod)\b/;
const TYPESCRIPT = new RegExp(
  `${C_LIKE.source}|^(?:export\\s+)?(?:const|let|var)\\s+\\w+\\s*(?::[^=]+)?=\\s*(?:async\\s*)?(?:\\(|function|class|\\w+\\s*=>)|^(?:describe|it|test)\\(`,
);
const C =
  /^(?:[A-Za-z_][\w*&:<>,\s]*\s[*&]*[\w:~]+\s*\([^;]*$|struct\b|class\b|enum\b|union\b|namespace\b|template\b|typedef\b|#define\s+\w+\()/;
const JAVA = new RegExp(`^\\s{0,4}(?:@\\w+\\s+)*(?:${C_LIKE.source.slice(1)}|(?:public|private|protected)\\s[^=;]*\\()`);

const DECLARATIONS: Readonly<Record<string, RegExp>> = {
  ".ts": TYPESCRIPT,
  ".tsx": TYPESCRIPT,
  ".mts": TYPESCRIPT,
  ".js": TYPESCRIPT,
  ".jsx": TYPESCRIPT,
  ".mjs": TYPESCRIPT,
  ".cjs": TYPESCRIPT,
  ".py": /^\s*(?:async\s+def|def|class)\s/,
  ".rb": /^\s*(?:def|class|module)\s/,
  ".go": /^(?:func|type|var|const)\s/,
  ".rs": new RegExp(`^\\s{0,4}(?:${C_LIKE.source.slice(1)})`),
  ".java": JAVA,
  ".kt": JAVA,
  ".cs": JAVA,
  ".scala": JAVA,
  ".swift": JAVA,
  ".php": JAVA,
  ".c": C,
  ".h": C,
  ".cc": C,
  ".cpp": C,
  ".hpp": C,
  ".sh": /^(?:function\s+)?[\w-]+\s*\(\)\s*\{?|^function\s/,
  ".proto": /^\s*(?:message|service|enum|rpc)\s/,
  ".sql": /^\s*(?:create|alter|drop)\s/i,
  ".css": /^[^\s@}/][^{]*\{\s*$|^@(?:media|keyframes|layer|font-face)/,
  ".html": /<(?:head|body|header|nav|main|section|article|aside|footer|form|table|script|style|template|h[1-6])\b/i,
  ".yaml": /^[\w.-]+:/,
  ".yml": /^[\w.-]+:/,
  ".toml": /^\[/,
  ".ini": /^\[/,
};

const MARKDOWN = new Set([".md", ".markdown", ".mdx"]);

/** The headings of a Markdown file or the declarations of a program, as `line: text`; empty where there are none to see. */
export function outlineOf(path: string, lines: readonly string[]): string[] {
  const extension = extname(path).toLowerCase();
  const numbers = MARKDOWN.has(extension) ? headings(lines) : declarations(lines, DECLARATIONS[extension === ".htm" ? ".html" : extension]);
  const entries = numbers
    .slice(0, MAXIMUM_ENTRIES)
    .map((number) => `${number}: ${lines[number - 1]!.trimEnd().slice(0, ENTRY_CHARACTERS)}`);
  if (numbers.length > MAXIMUM_ENTRIES) entries.push(`[… ${numbers.length - MAXIMUM_ENTRIES} more]`);
  return entries;
}

function headings(lines: readonly string[]): number[] {
  const numbers: number[] = [];
  let fence: string | undefined;
  for (const [index, line] of lines.entries()) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1]?.slice(0, 3);
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence;
    else if (fence === undefined && /^#{1,6}\s/.test(line)) numbers.push(index + 1);
  }
  return numbers;
}

function declarations(lines: readonly string[], pattern: RegExp | undefined): number[] {
  if (pattern === undefined) return [];
  return lines.flatMap((line, index) => (line.length <= 1_000 && pattern.test(line) ? [index + 1] : []));
}
