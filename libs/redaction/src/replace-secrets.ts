import { setImmediate as nextTick } from "node:timers/promises";
import { findSecrets } from "./find-secrets.ts";
import { TextRedactor, type MarkOf } from "./text-redactor.ts";

/** How much of a secret has to be seen to know it for one: a key's first characters, a signed token up to its signature. */
const LONGEST_BEGINNING = 4_096;
/** So much is looked at before others have their turn: some milliseconds, and 30 for the worst of texts that we found. */
const TURN = 32_768;

/** A text with its secrets replaced: the same that TextRedactor gives for its pieces. */
export function replaceSecrets(text: string, markOf: MarkOf): string {
  const redactor = new TextRedactor(markOf);
  return redactor.push(text) + redactor.end();
}

/** The same for a long text in a process that has other things to do meanwhile. */
export async function replaceSecretsInTurns(text: string, markOf: MarkOf): Promise<string> {
  const redactor = new TextRedactor(markOf);
  let replaced = "";
  for (let at = 0; at < text.length; at += TURN) {
    if (at > 0) await nextTick();
    replaced += redactor.push(text.slice(at, at + TURN));
  }
  return replaced + redactor.end();
}

/**
 * The first `length` characters of a text with its secrets replaced. A secret that begins in them is replaced whole,
 * wherever it ends, so that the cut leaves no half of one.
 */
export function replaceSecretsInBeginning(text: string, length: number, markOf: MarkOf): string {
  let replaced = "";
  let at = 0;
  const beginning = text.slice(0, length + LONGEST_BEGINNING);
  for (const { kind, start, end } of findSecrets(beginning)) {
    if (start >= length) break;
    replaced += text.slice(at, start) + markOf(kind, text.slice(start, end));
    at = end;
  }
  return replaced + text.slice(at, Math.max(at, length));
}
