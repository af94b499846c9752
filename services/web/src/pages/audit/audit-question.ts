import { PERMISSION_MODES } from "@hlvm/ndjson/permission-mode-name";
import { auditKindWords, outcomeStatusWords } from "@hlvm/proto/hlvm/audit/v1/audit_words";
import { decidingStepWords, decisionWords } from "@hlvm/proto/hlvm/policy/v1/policy_words";
import { parseTime } from "@hlvm/ndjson/parse-time";
import { shellWord } from "../../parts/shell-word.ts";

/** By what the log can be narrowed, under the names that the flags of `hlvm audit` have. */
export const AUDIT_FIELDS = [
  "tool",
  "principal",
  "decision",
  "step",
  "rule",
  "outcome",
  "level",
  "mode",
  "kind",
  "session",
  "run",
  "call",
  "path",
  "host",
  "approver",
  "since",
  "until",
  "text",
] as const;
export type AuditFieldName = (typeof AUDIT_FIELDS)[number];
export type AuditQuestion = Readonly<Partial<Record<AuditFieldName, string>>>;

/** What an address without a question asks: to read the whole log takes long where that is large. */
export const USUAL_SINCE = "7d";
/** Of a question that has no beginning, on purpose. */
export const WHOLE_LOG = "all";

/** The words that a field may have, where there are only some. */
export const FIELD_WORDS: Readonly<Partial<Record<AuditFieldName, readonly string[]>>> = {
  decision: decisionWords,
  step: decidingStepWords,
  outcome: outcomeStatusWords,
  level: ["L0", "L1", "L2"],
  mode: PERMISSION_MODES,
  kind: auditKindWords,
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const PIECE = /\s*(?:([a-z]+):)?("(?:[^"\\]|\\.)*"|\S+)/gy;

/** @returns the question, or what cannot be understood of it */
export function questionOfLine(line: string): AuditQuestion | { readonly problem: string } {
  const question: Partial<Record<AuditFieldName, string>> = {};
  const words: string[] = [];
  for (const [, name, raw] of line.trim().matchAll(PIECE)) {
    const value = raw!.startsWith('"') ? raw!.slice(1, -1).replaceAll(/\\(.)/g, "$1") : raw!;
    if (name === undefined) words.push(value);
    else if (!isField(name)) return { problem: `There is no field "${name}". Put words to look for in quotes.` };
    else question[name] = value;
  }
  if (words.length > 0) question.text = words.join(" ");
  const problem = Object.entries(question)
    .map(([name, value]) => problemOf(name as AuditFieldName, value))
    .find((one) => one !== "");
  return problem === undefined ? question : { problem };
}

export function lineOf(question: AuditQuestion): string {
  return AUDIT_FIELDS.flatMap((name) => {
    const value = question[name];
    if (value === undefined || value === "") return [];
    return name === "text" ? quoted(value, /^[^\s":\\]+$/) : `${name}:${quoted(value, /^[^\s"\\]+$/)}`;
  }).join(" ");
}

/** An address without any part of a question asks for the last days. */
export function questionOfAddress(search: URLSearchParams): AuditQuestion {
  const given = AUDIT_FIELDS.flatMap((name) => {
    const value = search.get(name) ?? "";
    return value === "" || problemOf(name, value) !== "" ? [] : [[name, value] as const];
  });
  return given.length === 0 ? { since: USUAL_SINCE } : Object.fromEntries(given);
}

/** What else stands in the address, such as the view, stays. */
export function addressOf(question: AuditQuestion, before: URLSearchParams): URLSearchParams {
  const search = new URLSearchParams(before);
  for (const name of AUDIT_FIELDS) {
    const value = question[name] ?? "";
    if (value === "") search.delete(name);
    else search.set(name, value);
  }
  if (AUDIT_FIELDS.every((name) => !search.has(name))) search.set("since", WHOLE_LOG);
  return search;
}

/** The same question to `hlvm audit`; what a shell would read is in quotes. */
export function flagsOf(question: AuditQuestion): string {
  return AUDIT_FIELDS.filter((name) => (question[name] ?? "") !== "" && question[name] !== WHOLE_LOG)
    .map((name) => ` --${name} ${shellWord(question[name]!)}`)
    .join("");
}

/** Whether nothing narrows it to a part of the log. */
export function readsWholeLog({ since, session, run, call }: AuditQuestion): boolean {
  return (since === undefined || since === WHOLE_LOG) && session === undefined && run === undefined && call === undefined;
}

function isField(name: string): name is AuditFieldName {
  return (AUDIT_FIELDS as readonly string[]).includes(name);
}

function problemOf(name: AuditFieldName, value: string): string {
  const words = FIELD_WORDS[name];
  if (words !== undefined && !words.includes(value)) return `"${value}" is no ${name}. There are: ${words.join(", ")}.`;
  if ((name === "session" || name === "run") && !UUID.test(value)) return `"${value}" is no id of a ${name}: it has 36 characters.`;
  if (name === "since" && value === WHOLE_LOG) return "";
  if ((name === "since" || name === "until") && parseTime(value, new Date()) === undefined)
    return `"${value}" is no time. Give one such as 30m, 1h, 7d or 2026-11-21T10:00:00Z.`;
  return "";
}

function quoted(value: string, plain: RegExp): string {
  return plain.test(value) ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}
