import type { JsonValue } from "@hlvm/canonical-json/canonical-json";

/**
 * What is taken for a secret: the forms that providers document for their keys, private keys, tokens in headers and
 * addresses, and values that stand beside a name such as `password`. secretlint's rules look for the same forms; its
 * engine costs tens of megabytes and is made for files, so the list is kept here. Each form can be matched in linear time.
 */
const FORMS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g,
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,255}\b/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,255}\b/g,
  /\bglpat-[A-Za-z0-9_-]{20,255}/g,
  /\bsk-[A-Za-z0-9_-]{20,255}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g,
  /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}\b/g,
  /\bAIza[A-Za-z0-9_-]{35}/g,
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /\bhf_[A-Za-z0-9]{30,255}\b/g,
  /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g,
  /\beyJ[A-Za-z0-9_-]{10,4096}\.[A-Za-z0-9_-]{10,4096}\.[A-Za-z0-9_-]{10,4096}/g,
];
/** What comes before stays, so that the record still says what was there. */
const NAMED: readonly RegExp[] = [
  /(\b(?:bearer|basic|token) +)[A-Za-z0-9+/_.~=-]{8,4096}/gi,
  /([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:@/]{0,200}:)[^\s@/]{1,200}(?=@)/gi,
  /((?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"'&;|,]{4,4096}/gi,
];
const SECRET_NAME = /^(pass(word|wd|phrase)?|secret|token|api_?key|access_?key|private_?key|credentials?|authorization)$/i;
const REPLACED = "[secret]";
const MAXIMUM_TEXT = 16_384;

/** The text with secrets replaced. */
export function redactText(text: string): string {
  const withoutForms = FORMS.reduce((before, form) => before.replace(form, REPLACED), text);
  return NAMED.reduce((before, form) => before.replace(form, `$1${REPLACED}`), withoutForms);
}

/** A value as the audit log keeps it: secrets replaced in every text, and texts longer than 16,384 characters cut. */
export function redactValue(value: JsonValue, name = ""): JsonValue {
  if (typeof value === "string") return SECRET_NAME.test(name) ? REPLACED : cut(redactText(value));
  if (Array.isArray(value)) return value.map((item: JsonValue) => redactValue(item, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redactText(key), redactValue(item, key)]));
}

function cut(text: string): string {
  return text.length <= MAXIMUM_TEXT ? text : `${text.slice(0, MAXIMUM_TEXT)}… (${text.length - MAXIMUM_TEXT} more characters)`;
}
