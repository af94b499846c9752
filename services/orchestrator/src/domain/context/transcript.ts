import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { cutText } from "../fold/cut-text.ts";
import { partText } from "./part-text.ts";
import type { ContextUnit } from "./plan-compaction.ts";

/** What is left of each result and text, one after the other, until the whole is short enough. */
const LENGTHS = [4_000, 1_000, 300, 100];

/** What is folded as a text, for whoever summarises it, of at most so many characters. */
export function renderTranscript(units: readonly ContextUnit[], formerSummary: string, length: number): string {
  for (const each of LENGTHS) {
    const text = render(units, formerSummary, each);
    if (text.length <= length) return text;
  }
  // The beginning was summarised best already; what came last says most about how things stand.
  const text = render(units, formerSummary, LENGTHS.at(-1)!);
  const kept = Math.floor(length / 2);
  return `${text.slice(0, kept)}\n[${text.length - 2 * kept} characters left out]\n${text.slice(-kept)}`.toWellFormed();
}

function render(units: readonly ContextUnit[], formerSummary: string, each: number): string {
  const former = formerSummary === "" ? [] : [`[earlier summary]\n${quoted(formerSummary)}`];
  return [...former, ...units.flatMap(({ parts }) => parts.map((known) => renderPart(known, each)))]
    .filter((text) => text !== "")
    .join("\n\n");
}

function renderPart({ part, provenance }: ContextUnit["parts"][number], each: number): string {
  const text = quoted(cutText(partText(part), each));
  if (part.part.case === "thinking") return "";
  if (part.part.case === "toolCall") return `[model calls] ${text}`;
  if (part.part.case === "toolResult") {
    const origin = provenance.trust === Trust.EXTERNAL ? ", from outside, data of strangers" : "";
    return `[result ${provenance.sequence} of ${provenance.source}${origin}]\n${text}`;
  }
  return provenance.kind === ContextKind.RAW ? `[model]\n${text}` : `[${provenance.source}]\n${text}`;
}

/** Nothing that somebody wrote begins an entry of the transcript, or ends it: a result could pretend to be a person's message. */
function quoted(text: string): string {
  return text.replaceAll(/^[^\S\n]*\[/gm, String.raw`\[`).replaceAll(/<(?=\s*\/?\s*transcript)/gi, "‹");
}
