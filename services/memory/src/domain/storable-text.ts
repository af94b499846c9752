import { HlvmError } from "@hlvm/errors/hlvm-error";
import { isHidden, standIn } from "@hlvm/visible-text/hidden-character";
import { redactSecrets } from "./redact-secrets.ts";

/** Tags, comments and entities of HTML, and the place of a picture: what is left without them is what a text says. */
const MARKUP = /<!--[^]{0,4000}?-->|<\/?[A-Za-z][^<>]{0,1000}>|&(?:#\w{1,8}|[A-Za-z]{2,12});|!\[[^\]]{0,200}\]\([^)]{0,1000}\)/g;

/**
 * A fact's text as it may be stored: without secrets, and nothing in it hides.
 * @throws HlvmError `fact_empty`
 */
export function factText(text: string): string {
  const clean = storableText(text);
  const remainder = clean.replace(/\[secret: [\w /-]+\]|⟦U\+[0-9A-F]+⟧/g, "").replace(MARKUP, "");
  if (/[\p{L}\p{N}]/u.test(remainder)) return clean;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "fact_empty",
    message: clean.includes("[secret: ") ? "The fact is nothing but a secret, and secrets are not remembered." : "The fact says nothing.",
    advice: "Give a sentence that stands alone, and say where a secret is kept instead of the secret.",
  });
}

/** Without secrets, also such as something hidden was put into; what a person could not see stands there by its number. */
export function storableText(text: string): string {
  const plain = text
    .replaceAll("\0", "")
    .replace(/\p{Zs}/gu, " ")
    .trim();
  const bare = characters(plain, () => "");
  if (bare === plain) return redactSecrets(plain);
  const redacted = redactSecrets(bare);
  return redacted === bare ? characters(plain, (hidden) => `⟦${standIn(hidden)}⟧`) : redacted;
}

const VARIATION = "\ufe0f";
const JOINERS: ReadonlySet<string> = new Set(["\u200c", "\u200d", VARIATION]);

/** Joiners within words and emoji, lines and tabs are text. */
function characters(text: string, replaced: (hidden: string) => string): string {
  let before = "";
  return Array.from(text, (character) => {
    const joins =
      JOINERS.has(character) && (before === VARIATION || /[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}#*0-9]/u.test(before));
    before = character;
    return joins || "\n\t\r⟦⟧".includes(character) || !isHidden(character) ? character : replaced(character);
  }).join("");
}
