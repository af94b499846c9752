const LABEL = "(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----";
const BEGIN = `-----BEGIN ${LABEL}`;
const END = `-----END ${LABEL}`;
/** A line number, `file:12:`, `+`, `# `, a quote: what tools and languages put before a line of a key. */
const BEFORE = String.raw`[ \t]{0,40}(?:\d{1,9}[ \t]{1,8}|[^\s"']{1,200}?[:|>\t-])?[ \t]{0,8}[#*>|+-]{0,2}[ \t]{0,8}["'\x60]?`;
const BASE64 = String.raw`(?:[A-Za-z0-9+/=]|\\[nr])`;
const HEADER = String.raw`(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID): [^\r\n]{0,200}`;
const AFTER = String.raw`["'\x60]?[ \t]{0,8}[+,;.\\]?[ \t]{0,8}(?=[\r\n]|$)`;
const LINES_BETWEEN = String.raw`(?:\r?\n){1,3}`;

const ON_ONE_LINE = String.raw`${BEGIN}(?:(?!-----BEGIN)[^\r\n])*?${END}`;
const ON_LINES = String.raw`${BEGIN}${BASE64}*${AFTER}(?:${LINES_BETWEEN}${BEFORE}(?:${BASE64}+|${HEADER})${AFTER})*(?:${LINES_BETWEEN}${BEFORE}${END})?`;

/** A private key in PEM, OpenSSH's or PGP's armour, on lines or in one with `\n` in it, whole or cut off before its end. */
export const PRIVATE_KEY = new RegExp(`${ON_ONE_LINE}|${ON_LINES}`, "g");

const KEY_BEGIN = new RegExp(BEGIN, "g");
const HAS_END = new RegExp(`${END}$`);

/** The first line of a key alone, as in a text about keys, holds no secret. */
export function isPrivateKey(found: string): boolean {
  return HAS_END.test(found) || new RegExp(`${BASE64}{16}`).test(found.replace(KEY_BEGIN, ""));
}

/** Where a key begins that may go on beyond this text, or ends in its last line; undefined where none does. */
export function startOfOpenKey(text: string): number | undefined {
  KEY_BEGIN.lastIndex = 0;
  for (let begin = KEY_BEGIN.exec(text); begin !== null; begin = KEY_BEGIN.exec(text)) {
    const key = new RegExp(PRIVATE_KEY.source, "y");
    key.lastIndex = begin.index;
    const found = key.exec(text);
    if (found === null) continue;
    const after = text.slice(key.lastIndex);
    // Without its end it is over with the first whole line that cannot be one of a key.
    if (!/[\r\n]/.test(HAS_END.test(found[0]) ? after : after.replace(/^\r?\n/, ""))) return begin.index;
    KEY_BEGIN.lastIndex = key.lastIndex;
  }
  return undefined;
}
