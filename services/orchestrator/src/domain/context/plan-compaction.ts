import { create } from "@bufbuild/protobuf";
import { Role, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { FoldedResultSchema, type FoldedResult } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { Conversation } from "../fold/conversation.ts";
import { estimatePart } from "./estimate-tokens.ts";
import { compareWorth, REMINDER, type Provenance } from "./provenance.ts";

/** Results of which the model is given a pointer; older ones are in the log all the same. */
const POINTERS = 40;
/** A pointer to a shorter result would save nothing. */
const SHORTEST_PUT_ASIDE_TOKENS = 60;

interface Known {
  readonly part: Part;
  readonly provenance: Provenance;
}

/** What is folded or stays as a whole: what a person said at once, or an answer of the model with the results of its calls. */
export interface ContextUnit {
  readonly isTurn: boolean;
  readonly parts: readonly Known[];
  readonly tokens: number;
}

export interface CompactionPlan {
  /** Oldest first; empty where only results are put aside. */
  readonly folded: readonly ContextUnit[];
  readonly fromSequence: bigint;
  readonly toSequence: bigint;
  readonly keptSequences: readonly bigint[];
  readonly results: readonly FoldedResult[];
  readonly putAside: readonly FoldedResult[];
}

/**
 * What to fold so that the turns that stay come to no more than `tailTokens`, estimated; the last one stays in any case, and
 * where it is too long by itself its results are put aside, those first that are worth least.
 * @param conversation folded from the log, so that everything has its sequence
 */
export function planCompaction(conversation: Conversation, tailTokens: number): CompactionPlan {
  const before = conversation.compaction;
  const units = unitsOf(conversation, before?.toSequence ?? 0n);
  let first = Math.max(0, units.length - 1);
  let tokens = units[first]?.tokens ?? 0;
  while (first > 0 && tokens + units[first - 1]!.tokens <= tailTokens) tokens += units[--first]!.tokens;
  const folded = units.slice(0, first);
  const sequences = folded.flatMap(({ parts }) => parts.map(({ provenance }) => provenance.sequence));
  const toSequence = sequences.reduce((last, sequence) => (sequence > last ? sequence : last), before?.toSequence ?? 0n);
  return {
    folded,
    fromSequence: before?.fromSequence || (sequences[0] ?? 0n),
    toSequence,
    keptSequences: kept(conversation, toSequence),
    results: [...(before?.results ?? []), ...folded.flatMap(({ parts }) => parts.flatMap(({ provenance }) => resultOf(provenance)))].slice(
      -POINTERS,
    ),
    putAside: putAside(units.slice(first), tailTokens),
  };
}

/** What came after the last compaction's range and can be folded, in its order: not the task, and not what the run was asked. */
export function unitsOf(conversation: Conversation, after: bigint): ContextUnit[] {
  const units: { isTurn: boolean; parts: Known[]; tokens: number }[] = [];
  const { task, asked } = conversation.anchors;
  const staying = new Set([task, ...asked, ...conversation.instructions.sequences]);
  let person: bigint | undefined;
  for (const { role, parts } of conversation.messages()) {
    for (const [index, part] of parts.entries()) {
      const provenance = conversation.provenanceOf(part);
      if (provenance.sequence <= after || staying.has(provenance.sequence)) continue;
      const isReminder = provenance.source === REMINDER;
      const isNew = role === Role.USER ? !isReminder && provenance.sequence !== person : role === Role.ASSISTANT && index === 0;
      if (!isReminder) person = role === Role.USER ? provenance.sequence : undefined;
      if (isNew || units.length === 0) units.push({ isTurn: role !== Role.USER, parts: [], tokens: 0 });
      const unit = units.at(-1)!;
      unit.parts.push({ part, provenance });
      unit.tokens += estimatePart(part);
    }
  }
  return units;
}

function kept({ anchors, instructions, work }: Conversation, toSequence: bigint): bigint[] {
  const { task, asked, runStarted, memory } = anchors;
  const wanted = [task, ...asked, runStarted, memory, ...instructions.sequences, work.anchors.todo, work.anchors.plan];
  return [...new Set(wanted)].filter((sequence) => sequence > 0n && sequence <= toSequence);
}

function putAside(units: readonly ContextUnit[], tailTokens: number): FoldedResult[] {
  let tokens = units.reduce((sum, unit) => sum + unit.tokens, 0);
  const last = units.at(-1);
  const candidates = units
    .flatMap((unit) => unit.parts.map((known) => ({ ...known, isLast: unit === last })))
    .filter(({ part, provenance }) => provenance.kind === ContextKind.EVIDENCE && estimatePart(part) > SHORTEST_PUT_ASIDE_TOKENS)
    .toSorted((one, other) => Number(one.isLast) - Number(other.isLast) || compareWorth(other.provenance, one.provenance));
  const aside: FoldedResult[] = [];
  for (const { part, provenance } of candidates) {
    if (tokens <= tailTokens) break;
    const results = resultOf(provenance);
    aside.push(...results);
    if (results.length > 0) tokens -= estimatePart(part) - SHORTEST_PUT_ASIDE_TOKENS;
  }
  return aside;
}

function resultOf({ sequence, result }: Provenance): FoldedResult[] {
  if (result === undefined || sequence === 0n || result.tool === "read_result") return [];
  const { tool, argumentsSummary, length } = result;
  return [create(FoldedResultSchema, { sequence, tool, argumentsSummary, length })];
}
