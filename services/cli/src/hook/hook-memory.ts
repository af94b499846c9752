import type { EdgeAccess } from "./edge-access.ts";
import type { BlockFact } from "./memory-block.ts";
import type { HookSession } from "./session-pointer.ts";

export interface ScoredFact extends BlockFact {
  readonly score: number;
  /** How much of what is rare in the question it holds, and how much memory's own gate demands. */
  readonly coverage: number;
  readonly gate: number;
}

export interface ScoredSession extends HookSession {
  /** As of a fact, by the turn that fits best. */
  readonly coverage: number;
  readonly gate: number;
}

/** What a hook asks of memory. */
export interface HookMemory {
  /** Best first. @throws Error where there is no answer, or none that can be read */
  search(query: string, project: string): Promise<ScoredFact[]>;
  /** The person's sessions with agents, best first. @throws Error as above */
  sessions(query: string): Promise<ScoredSession[]>;
  /** Those that every session is reminded of. @throws Error as above */
  pinned(project: string): Promise<{ readonly facts: readonly BlockFact[]; readonly moreExist: boolean }>;
}

export const MOST_PINNED = 10;
const MOST_FOUND = 10;
/** The first of them may be the conversation itself, with what it had others do. */
const MOST_SESSIONS = 3;
/** As much as a search of sessions takes. */
const LONGEST_SESSION_QUERY = 1_000;
const DEADLINE_MILLISECONDS = 600;
const MAXIMUM_BYTES = 1024 * 1024;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The edge's memory, over Connect's JSON: the generated client would take longer to load than the answer takes to come. */
export function hookMemory({ url, token }: EdgeAccess, signal: AbortSignal): HookMemory {
  const ask = async (method: string, request: object): Promise<Record<string, unknown>> => {
    const response = await fetch(new URL(`/hlvm.memory.v1.${method}`, url), {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "connect-protocol-version": "1",
        "connect-timeout-ms": String(DEADLINE_MILLISECONDS),
        "accept-encoding": "identity",
      },
      body: JSON.stringify(request),
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MILLISECONDS)]),
    });
    if (response.status !== 200) throw new Error(`the edge answered ${response.status}`);
    return record(JSON.parse(await bounded(response)));
  };
  return {
    search: async (query, project) =>
      list((await ask("MemoryService/SearchFacts", { query, limit: MOST_FOUND, project, unrecorded: true })).facts, MOST_FOUND).map(scored),
    sessions: async (query) => {
      const asked = { query: query.slice(0, LONGEST_SESSION_QUERY).toWellFormed(), limit: MOST_SESSIONS };
      return list((await ask("TranscriptService/SearchTranscripts", asked)).found, MOST_SESSIONS).map(scoredSession);
    },
    pinned: async (project) => {
      const { facts, nextPageToken = "" } = await ask("MemoryService/ListFacts", { filter: { project }, pinned: true, limit: MOST_PINNED });
      return { facts: list(facts, MOST_PINNED).map(blockFact), moreExist: nextPageToken !== "" };
    },
  };
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAXIMUM_BYTES) throw new Error("the answer is too large");
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

function scored(found: unknown): ScoredFact {
  const { fact, score, parts } = record(found);
  const { coverage, gate } = record(parts);
  return { ...blockFact(fact), score: amount(score), coverage: amount(coverage), gate: gate === undefined ? 1 : amount(gate) };
}

function scoredSession(found: unknown): ScoredSession {
  const { transcript, turn, coverage, gate } = record(found);
  const { tool, session, title = "", lastAt = "" } = record(transcript);
  const { text = "", ordinal } = record(turn);
  for (const word of [tool, session, title, lastAt, text]) if (typeof word !== "string") throw new Error("a session is malformed");
  return {
    tool: tool as string,
    session: session as string,
    title: (title || text) as string,
    day: /^\d{4}-\d\d-\d\d(?=T)/.exec(lastAt as string)?.[0] ?? "",
    turn: amount(ordinal),
    coverage: amount(coverage),
    gate: gate === undefined ? 1 : amount(gate),
  };
}

function blockFact(fact: unknown): BlockFact {
  const { factId, text } = record(fact);
  if (typeof factId !== "string" || !UUID.test(factId) || typeof text !== "string") throw new Error("a fact is malformed");
  return { id: factId, text };
}

/** JSON of protobuf leaves out what is zero. */
function amount(value: unknown = 0): number {
  if (typeof value !== "number") throw new Error("a number is malformed");
  return value;
}

function list(value: unknown = [], most: number): unknown[] {
  if (!Array.isArray(value) || value.length > most) throw new Error("a list is malformed");
  return value;
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("an object is malformed");
  return value as Record<string, unknown>;
}
