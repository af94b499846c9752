import { findSecrets } from "./find-secrets.ts";
import { startOfOpenKey } from "./private-key-form.ts";

/** At most so much is held back and looked at together: more than any private key in use has. */
const WINDOW = 32_768;
/** How much of a secret has to be seen to know it for one: a key's first characters, a signed token up to its signature. */
const LONGEST_BEGINNING = 4_096;
/** What is looked at once more before a cut within a word: a name and what joins it to its value. */
const CONTEXT = 512;
/** The same before a cut between words. */
const SHORT_CONTEXT = 2;

/** After these on its line a secret may have blanks before it or in it: nothing that comes later on the line is let go early. */
const OPENING =
  /pass|pwd|secret|token|(?:api|access|private|account|auth|license|admin|deploy|encryption|signing)[ _-]?key|credential|creds|log-?in|authorization|bearer|basic|-----BEGIN|\bPIN\b|KEY\w*["']?[ \t]|SALT|PEPPER|cookie:|(?:seed|recovery|mnemonic)[ :]|mysql|docker|curl|wget|\bhttps? |\bxh |podman|helm|Kennwort|contraseña|mot de passe|senha|wachtwoord|hasło|пароль|密码|密碼|パスワード|비밀번호/i;
/** What a secret that was too long to be looked at whole goes on with. */
const REST = /^[^\s"'&;|,\x60]*/;

/** What stands in the place of a secret, told the kind and the secret. */
export type MarkOf = (kind: string, secret: string) => string;

/**
 * Replaces the secrets of a text that comes in pieces. What it gives out, joined, depends on the text alone and not on where
 * it was cut: it goes from one place to the next at which no secret can stand across (a line's end, or a blank where nothing
 * on the line opens a secret), and where there is none for 32,768 characters it cuts there. What comes after the last such
 * place is held back.
 */
export class TextRedactor {
  readonly #markOf: MarkOf;
  /** What was given out last, to be looked at again, and what was not yet. */
  #text = "";
  #given = 0;
  /** A secret has no end yet. */
  #isWithin = false;

  constructor(markOf: MarkOf) {
    this.#markOf = markOf;
  }

  /** @returns what is certain by now, maybe nothing */
  push(piece: string): string {
    this.#text += piece;
    let out = "";
    for (;;) {
      this.#leaveSecret();
      const window = this.#text.slice(0, this.#given + WINDOW + LONGEST_BEGINNING);
      const cut = placeBetween(window, this.#given);
      if (cut !== undefined) out += this.#give(window.slice(0, cut), cut, SHORT_CONTEXT);
      else if (this.#text.length <= window.length) return out;
      else out += this.#give(window, this.#given + WINDOW, CONTEXT);
    }
  }

  /** @returns what was held back; the next piece begins another text */
  end(): string {
    const held = this.#text;
    const out = this.#give(held, held.length, 0);
    this.#text = "";
    this.#given = 0;
    this.#isWithin = false;
    return out;
  }

  #leaveSecret(): void {
    if (!this.#isWithin) return;
    this.#given += this.#text.slice(this.#given).match(REST)![0].length;
    this.#isWithin = this.#given === this.#text.length;
  }

  /** Gives out what stands before the cut; a secret that begins there is replaced whole. */
  #give(window: string, cut: number, context: number): string {
    let out = "";
    let at = this.#given;
    for (const { kind, start, end } of findSecrets(window)) {
      if (start < at) continue;
      if (start >= cut) break;
      out += window.slice(at, start) + this.#markOf(kind, window.slice(start, end));
      at = end;
    }
    out += window.slice(at, Math.max(at, cut));
    at = Math.max(at, cut);
    this.#isWithin = at === window.length && at > cut;
    const kept = Math.max(0, at - context);
    this.#text = this.#text.slice(kept);
    this.#given = at - kept;
    return out;
  }
}

/** The last place after `from` at which no secret can stand across. */
function placeBetween(text: string, from: number): number | undefined {
  const key = text.includes("-----BEGIN", from) ? startOfOpenKey(text.slice(from)) : undefined;
  const limit = key === undefined ? text.length : from + key;
  const line = Math.max(text.lastIndexOf("\n", limit - 1), text.lastIndexOf("\r", limit - 1)) + 1;
  const rest = text.slice(Math.max(line, from), limit);
  const opening = rest.search(OPENING);
  const free = opening < 0 ? rest : rest.slice(0, opening);
  const place = Math.max(line, Math.max(line, from) + Math.max(free.lastIndexOf(" "), free.lastIndexOf("\t")) + 1);
  return place > from ? place : undefined;
}
