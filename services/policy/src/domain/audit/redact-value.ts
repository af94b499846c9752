import type { JsonValue } from "@hlvm/canonical-json/canonical-json";
import { isSecretMark, secretMark } from "@hlvm/redaction/secret-mark";
import { redactText } from "./redact-text.ts";

const SECRET_NAME = /^(pass(word|wd|phrase)?|secret|token|api_?key|access_?key|private_?key|credentials?|authorization)$/i;
const MAXIMUM_TEXT = 16_384;

/** A value as the audit log keeps it: secrets replaced in every text, and texts longer than 16,384 characters cut. */
export function redactValue(value: JsonValue, name = ""): JsonValue {
  if (typeof value === "string") return SECRET_NAME.test(name) ? redactNamed(value, name) : redactBeginning(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => redactValue(item, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redactBeginning(key), redactValue(item, key)]));
}

/** Whatever its form is: its name says that it is one. */
function redactNamed(value: string, name: string): string {
  return isSecretMark(value) ? value : secretMark(name);
}

function redactBeginning(text: string): string {
  if (text.length <= MAXIMUM_TEXT) return redactText(text);
  // The cut may part a character of two halves, and half a one has no canonical form.
  return `${redactText(text, MAXIMUM_TEXT).toWellFormed()}… (${text.length - MAXIMUM_TEXT} more characters)`;
}
