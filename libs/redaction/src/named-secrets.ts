import { isPlaceholder } from "./placeholder.ts";
import { MARK_SOURCE } from "./secret-mark.ts";
import type { SecretForm } from "./secret-form.ts";

const PASSWORD = String.raw`password|passwd|passphrase|(?<![a-z]|[a-z] )pass|(?<=[_;])pwd`;
const KEY = "api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|(?:secret|encryption|signing)[_-]?key";
/** What values are called that are secrets. A mark's own `secret: ` is none. */
const NAME = String.raw`(?:${PASSWORD}|(?<!\[(?=secret: ))(?:client[_-]?)?secret|token|${KEY}|credentials?)`;
const QUOTE = String.raw`\\?["']?`;
const IS = String.raw`(?:[ \t]{0,9}(?:=>|:=|[:=])[ \t]{0,9}|[ \t]{1,9}is[ \t]{1,9})`;
/** In escaped quotes, in double ones, in single ones, in none. */
const VALUE = [
  String.raw`(?<=\\["'])[^"'\\\r\n]{4,512}`,
  String.raw`(?<=(?<!\\)")(?:[^"\\\r\n]|\\.){4,512}(?=")`,
  String.raw`(?<=(?<!\\)')[^'\r\n]{4,512}(?=')`,
  String.raw`[^\s"'&;|,\x60]{4,512}`,
].join("|");

/** What programs and sentences have where a secret might stand. */
const WORD =
  /^(?:string|str|text|number|integer|int|bool(?:ean)?|any|unknown|void|object|bytes|buffer|uint8array|true|false|null|none|nil|undefined|required|optional|missing|invalid|empty|wrong|incorrect|expired|stored|needed|hidden|never|always|only|also|this|that|then|there|their|your|with|from|what|when|where|which|required\W|not\W?)$/i;

/**
 * A value beside a name that says it is a secret: `PASSWORD=…`, `"api_key": "…"`, `token = '…'`, `the password is …`. It is
 * taken for one only where it looks like one, since programs are full of `token = nextToken()` and sentences of "the secret
 * is patience".
 */
export const namedSecret: SecretForm = {
  kind: ({ name }) => kindOfName(name!),
  // To its end, and through the pieces of which a program puts it together.
  rest: /[^\s"'&;|,\x60\\]*(?:["'][ \t]{0,9}[+.][ \t]{0,9}["'][^"'\r\n]{4,512})*/y,
  pattern: new RegExp(`(?<before>(?<name>${NAME})${QUOTE}(?<is>${IS})(?<quote>${QUOTE}))(?!${MARK_SOURCE})(?<value>${VALUE})`, "gi"),
  accept: (match, text) => {
    const { name, is, quote, value } = match.groups as Record<"name" | "is" | "quote" | "value", string>;
    if (isPlaceholder(value) || WORD.test(value.replace(/[.,;:)}\]]+$/, ""))) return false;
    if (quote !== "") return true;
    const isPassword = /^pa?s?s?w?/i.test(name) && /pass|pwd/i.test(name);
    const { index } = match;
    // A path that ends in `…/passwd` is a sentence's subject, and its value a word like any other.
    if (is.trim() === "is")
      return text[index - 1] !== "/" && isSaid(value, isPassword, text.slice(index + match[0].length, index + match[0].length + 8));
    // A call, an element, a type with parameters: a program's, and not a value.
    if (/[([{<]/.test(value)) return isMixed(value) && !/[A-Za-z_]\(|\w\[|\(\)/.test(value);
    if (name === name.toUpperCase()) return true;
    if (isMixed(value)) return !/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\W*$/.test(value);
    if (!isPassword) return false;
    const follows = text.slice(index + match[0].length).match(/^[ \t]*(.?)/)![1]!;
    // `password=letters` in a shell or an address, `password: letters` at the end of a line.
    return (
      /^[A-Za-z]+$/.test(value) &&
      (/^[:=]+$/.test(is) ? /^(?:|[&\w])$/.test(follows) && !is.includes(":") : is.includes(":") && follows === "")
    );
  },
};

/** After "is" stands a value rather than what is said of it: it has digits, or is a password's one word that ends its sentence. */
function isSaid(value: string, isPassword: boolean, after: string): boolean {
  const core = value.replace(/[.!?:)\]]+$/, "");
  if (/\d/.test(core))
    return isPassword ? !/^\d+[a-z]*$/.test(core) || core.length >= 8 : core.length >= 8 && !/(?:^|[-_/])[a-z]{4,}(?:$|[-_/])/.test(core);
  if (!isPassword || (value === core && /^[ \t]+(?!(?:and|but|for)\b)\w/.test(after))) return false;
  return !/^[a-z]+(?:ed|ing|ly|[ai]ble|ten|set)$|^(?:weak|strong|long|short|safe|secure|unknown|correct|good|same|here|mandatory|kept|known)$/.test(
    core,
  );
}

function kindOfName(name: string): string {
  if (/pass|pwd/i.test(name)) return "password";
  if (/token/i.test(name)) return "token";
  return /key/i.test(name) ? "key" : "credential";
}

/** Letters with digits, or with what no word and no program's name has in it; long for what has digits alone. */
function isMixed(value: string): boolean {
  if (/\d/.test(value)) return /[A-Za-z]/.test(value) || value.length >= 16;
  return /[A-Za-z]/.test(value) && /[!@#%^*~+$/=]/.test(value) && !/^[\w./-]+$/.test(value);
}
