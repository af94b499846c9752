import type { ProtectedEntry } from "./protected-entry.ts";

const CONTEXT_LINES = 3;
const SHOWN_LINES = 200;

/** What changed at a path, for people: a unified diff of one hunk, or words where it is no text. */
export function lineDiff(path: string, before: ProtectedEntry, after: ProtectedEntry): string {
  const out = [`--- ${before.kind === "absent" ? "/dev/null" : `a/${path}`}`, `+++ ${after.kind === "absent" ? "/dev/null" : `b/${path}`}`];
  if (before.kind !== after.kind && before.kind !== "absent" && after.kind !== "absent")
    out.push(`[a ${before.kind} became a ${after.kind}]`);
  if (after.kind === "link") out.push(`[a link to ${after.content!.toString("utf8")}]`);
  else if (after.kind !== "file" && after.kind !== "absent") out.push(`[a ${after.kind}]`);
  if (before.kind === "file" && after.kind === "file" && before.mode !== after.mode)
    out.push(`old mode ${before.mode.toString(8)}`, `new mode ${after.mode.toString(8)}`);
  const [old, now] = [textOf(before), textOf(after)];
  if (old === undefined || now === undefined) return [...out, "[the content is no text, or too long to be shown]"].join("\n");
  return [...out, ...hunk(linesOf(old), linesOf(now))].join("\n");
}

function textOf({ kind, content }: ProtectedEntry): string | undefined {
  if (kind !== "file") return "";
  return content === undefined || content.includes(0) ? undefined : content.toString("utf8");
}

function hunk(old: readonly string[], now: readonly string[]): string[] {
  let first = 0;
  while (first < old.length && first < now.length && old[first] === now[first]) first++;
  let [oldEnd, nowEnd] = [old.length, now.length];
  while (oldEnd > first && nowEnd > first && old[oldEnd - 1] === now[nowEnd - 1]) {
    oldEnd--;
    nowEnd--;
  }
  if (oldEnd === first && nowEnd === first) return [];
  const from = Math.max(0, first - CONTEXT_LINES);
  const lines = [
    ...old.slice(from, first).map((line) => ` ${line}`),
    ...old.slice(first, oldEnd).map((line) => `-${line}`),
    ...now.slice(first, nowEnd).map((line) => `+${line}`),
    ...old.slice(oldEnd, oldEnd + CONTEXT_LINES).map((line) => ` ${line}`),
  ];
  const shown = lines.slice(0, SHOWN_LINES);
  return [`@@ line ${from + 1} @@`, ...shown, ...(lines.length > shown.length ? [`[… ${lines.length - shown.length} more lines]`] : [])];
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
