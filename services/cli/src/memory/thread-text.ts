import { timestampMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { factChangeWord } from "@hlvm/ndjson/fact-change-word";
import type { Fact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { RecallKindSchema } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { EntityKindSchema, type Entity, type GetThreadResponse, type ThreadEvent } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import { localTime } from "../output/local-time.ts";
import { paint, type Piece } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable.ts";
import { changeText } from "./fact-view.ts";

const BAR_CHARACTERS = 24;
const ID_CHARACTERS = 8;

/** A thread as a timeline: what held when, what happened, and what else it is about. */
export function threadText(thread: GetThreadResponse, now: number, colour: boolean): string {
  const sections = [
    [line("label", headOf(thread))],
    bars(thread.facts, now),
    thread.events.map(({ at, event }) => [plain(`${localTime(at).padEnd(19)}  `), ...eventPieces(event)]),
    thread.relations.map(({ subject, predicate, object }) => line("plain", `${subject}: ${predicate}  →  ${object}`)),
    thread.related.length === 0 ? [] : [line("dim", `With ${thread.related.map(countedText).join(", ")}`)],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((pieces) => `${paint(pieces, colour)}\n`).join(""))
    .join("\n");
}

/** `src/deploy.ts (path, 3), deploy (name, 2)` */
export function entitiesText(entities: readonly Entity[]): string {
  return entities
    .map(
      ({ kind, name, items, isFoundByModel }) =>
        `${name} (${enumWord(EntityKindSchema, kind)}, ${items}${isFoundByModel ? ", found by a model" : ""})`,
    )
    .join(", ");
}

function headOf({ entities, fact, sessionId }: GetThreadResponse): string {
  if (fact !== undefined) return `Fact ${fact.factId}`;
  return sessionId === "" ? entitiesText(entities) : `Session ${sessionId}`;
}

/** The oldest first: what replaced it stands below. */
function bars(facts: readonly Fact[], now: number): Piece[][] {
  const spans = facts.map((fact) => ({ fact, from: milliseconds(fact.validFrom, now), to: milliseconds(fact.validTo, now) })).toReversed();
  const first = Math.min(...spans.map(({ from }) => from));
  const column = (at: number): number => Math.round(((at - first) * (BAR_CHARACTERS - 2)) / Math.max(now - first, 1));
  return spans.map(({ fact, from, to }) => {
    const holds = fact.validTo === undefined;
    const [start, end] = [column(from), column(to)];
    const bar = `${" ".repeat(start)}├${"─".repeat(end - start)}${holds ? "▶" : "┤"}`.padEnd(BAR_CHARACTERS);
    const until = holds ? "" : localTime(fact.validTo).slice(0, 10);
    const replaced = fact.supersededBy === "" ? "" : `  → ${fact.supersededBy.slice(0, ID_CHARACTERS)}`;
    return [
      { text: bar, tone: holds ? "good" : "dim" },
      plain(`  ${localTime(fact.validFrom).slice(0, 10)} ${until.padEnd(10)}  ${fact.factId.slice(0, ID_CHARACTERS)}  `),
      { text: printableLine(fact.text), tone: holds ? "plain" : "dim" },
      { text: replaced, tone: "dim" },
    ];
  });
}

function eventPieces(event: ThreadEvent["event"]): Piece[] {
  if (event.case === "change") {
    const by = event.value.principal === "" ? "" : `  ${event.value.principal}`;
    return [plain(`${factChangeWord(event.value)}${by}  ${printableLine(changeText(event.value))}`)];
  }
  if (event.case === "turn") {
    const { tool, session, turn } = event.value;
    return [
      plain("said  "),
      { text: printableLine(`${tool} ${session} ${turn?.ordinal}  `), tone: "dim" },
      plain(` ${printableLine(turn?.text ?? "")}`),
    ];
  }
  if (event.case === undefined) return [];
  const { kind, sessionId, query, factIds } = event.value;
  const ids = factIds.map((id) => id.slice(0, ID_CHARACTERS)).join(", ");
  if (event.case === "used") return [plain(`used  ${ids} in an answer`)];
  const where = sessionId === "" ? "" : ` in session ${sessionId.slice(0, ID_CHARACTERS)}`;
  return [plain(`shown  ${ids} by ${enumWord(RecallKindSchema, kind)}${where}: ${printableLine(query)}`)];
}

function countedText({ name, items }: Entity): string {
  return `${name} (${items})`;
}

function line(tone: Piece["tone"], text: string): Piece[] {
  return [{ tone, text: printableLine(text, 400) }];
}

function plain(text: string): Piece {
  return { text, tone: "plain" };
}

function milliseconds(at: Timestamp | undefined, otherwise: number): number {
  return at === undefined ? otherwise : timestampMs(at);
}
