import { createHmac } from "node:crypto";
import { replaceSecrets, replaceSecretsInTurns } from "@hlvm/redaction/replace-secrets";
import { secretMark } from "@hlvm/redaction/secret-mark";
import { TextRedactor } from "@hlvm/redaction/text-redactor";
import { mapTexts } from "./map-texts.ts";

/** Hex digits of a mark's fingerprint: enough to tell a session's secrets apart, too few to find out a password by it. */
const ID_LENGTH = 4;
/** A mark with a fingerprint: a secret's, and not a word of somebody about secrets. */
const MARK = new RegExp(String.raw`\[secret: [\w /-]{1,48} [0-9a-f]{${ID_LENGTH}}\]`);

/**
 * What one run does with secrets. Every text that enters it has them replaced by marks, `[secret: GitHub token a1b2]`, so
 * that the log, watchers, the audit log, memory and the model see the mark alone. A secret that a person allowed is kept in
 * this process, as long as the run goes on, from when it is met in the run: the model is given it in the place of its mark,
 * and everything else still has the mark. Nothing brings a secret back that the run has not met.
 */
export class RunSecrets {
  readonly #key: Uint8Array;
  readonly #allowed: ReadonlySet<string>;
  /** Mark → secret, of those that were allowed. */
  readonly #revealed = new Map<string, string>();

  /**
   * @param key the session's: the same secret has the same mark in every run of it
   * @param allowed fingerprints, or kinds in words
   */
  constructor(key: Uint8Array, allowed: readonly string[]) {
    this.#key = key;
    this.#allowed = new Set(allowed.map((one) => one.toLowerCase()));
  }

  /** A short text with its secrets replaced. */
  redact(text: string): string {
    return replaceSecrets(text, this.#markOf);
  }

  /** The same for what may be megabytes long. */
  redactInTurns(text: string): Promise<string> {
    return replaceSecretsInTurns(text, this.#markOf);
  }

  /** The same for a text that comes in pieces. */
  redactor(): TextRedactor {
    return new TextRedactor(this.#markOf);
  }

  /** A call's arguments as everybody sees them but the executor and the person who approves: what runs keeps its bytes. */
  redactArguments(json: string): string {
    return mapTexts(json, (text) => this.redact(text));
  }

  /** A text for the model: the marks of allowed secrets are the secrets. */
  reveal(text: string): string {
    let revealed = text;
    for (const [mark, secret] of this.#revealed) revealed = revealed.replaceAll(mark, () => secret);
    return revealed;
  }

  revealArguments(json: string): string {
    return this.#revealed.size === 0 ? json : mapTexts(json, (text) => this.reveal(text));
  }

  readonly #markOf = (kind: string, secret: string): string => {
    const id = createHmac("sha256", this.#key).update(secret).digest("hex").slice(0, ID_LENGTH);
    const mark = secretMark(kind, id);
    if (this.#allowed.has(id) || this.#allowed.has(kind.toLowerCase())) this.#revealed.set(mark, secret);
    return mark;
  };
}

/** Whether a text has the mark of a secret in it: a file that it was written to would have lost the secret. */
export function holdsSecretMark(text: string): boolean {
  return MARK.test(text);
}
