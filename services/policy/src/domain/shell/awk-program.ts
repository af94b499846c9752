const FUNCTIONS = new Set(
  ["length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "tolower", "toupper", "int", "sqrt", "exp", "log", "sin"]
    .concat(["cos", "atan2", "rand", "srand", "strftime", "systime", "mktime", "gensub", "strtonum", "and", "or", "xor"])
    .concat(["lshift", "rshift", "compl", "asort", "asorti"]),
);
const KEYWORDS = new Set(
  [
    "BEGIN",
    "END",
    "if",
    "else",
    "while",
    "for",
    "do",
    "break",
    "continue",
    "next",
    "nextfile",
    "exit",
    "delete",
    "in",
    "print",
    "printf",
  ].concat(["return"]),
);
/** They run or write something, read a command's output, or bring further code. */
const REFUSED = new Set(
  ["system", "getline", "close", "fflush", "function", "func", "extension", "switch", "case"].concat(["BEGINFILE", "ENDFILE"]),
);

const BLANK = / +/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-z_]\w*/y;
/** Awks differ about a slash or a backslash between brackets: there is none. */
const EXPRESSION = /\/(?:[^/\\[\]]|\\[^ ]|\[\^?(?:\[:[a-z]+:\]|[^/\\[\]])+\])+\//y;
const OPERATOR = /&&|\|\||[<>=!+*%^/-]=|!~|\+\+|--|[{}()[\];,~!<>=+*/%^$?:-]/y;
/** Where only an operand may follow, so that a slash begins an expression. */
const BEFORE_OPERAND = new Set(["", "(", ",", "{", "}", ";", "!", "~", "!~", "&&", "||"]);
const LONGEST = 2_000;

/**
 * Whether a program only computes and prints: no `system`, pipe, redirection, `getline` or further code. Read token by token;
 * what cannot be told apart without awk's grammar counts as harm.
 */
export function isHarmlessAwk(program: string): boolean {
  if (program.length > LONGEST) return false;
  let before = "";
  let isPrinting = false;
  for (let at = 0; at < program.length;) {
    const read = readToken(program, at, before);
    if (read === undefined) return false;
    const end = at + read.length;
    if (read.trim() !== "") {
      if (!isHarmlessToken(read, program.slice(end), isPrinting)) return false;
      if (read === "print" || read === "printf") isPrinting = true;
      if (read === ";" || read === "{" || read === "}") isPrinting = false;
      before = read;
    }
    at = end;
  }
  return before !== "";
}

function readToken(program: string, at: number, before: string): string | undefined {
  const isExpression = program[at] === "/" && BEFORE_OPERAND.has(before);
  for (const pattern of isExpression ? [EXPRESSION] : [BLANK, STRING, NUMBER, NAME, OPERATOR]) {
    pattern.lastIndex = at;
    const token = pattern.exec(program)?.[0];
    if (token !== undefined) return token;
  }
  return undefined;
}

function isHarmlessToken(token: string, rest: string, isPrinting: boolean): boolean {
  // After `print`, `>` writes to a file: even where brackets would make it a comparison, nobody needs it.
  if (token === ">") return !isPrinting && !rest.startsWith(">");
  // An expression that awk would read here needs a second slash to end it; without one this is a division.
  if (token === "/" || token === "/=") return !rest.includes("/");
  if (!/^[A-Za-z_]/.test(token) || KEYWORDS.has(token)) return true;
  if (REFUSED.has(token)) return false;
  return FUNCTIONS.has(token) || !/^ *\(/.test(rest);
}
