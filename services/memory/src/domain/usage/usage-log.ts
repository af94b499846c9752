import type { Fact, FactOrigin } from "../fact.ts";
import type { Viewer } from "../viewer.ts";

export type RecallKind = "run" | "tool" | "search";

/** Once asked of memory. */
export interface RecallEntry {
  readonly kind: RecallKind;
  /** Both are empty where no run asked. */
  readonly sessionId: string;
  readonly runId: string;
  /** The beginning of what was asked, without secrets. */
  readonly query: string;
  /** Ids of facts. */
  readonly shown: readonly string[];
  readonly milliseconds: number;
  /** Empty where it was asked in none. */
  readonly project: string;
}

/** As it is on record. */
export interface LoggedRecall extends RecallEntry {
  readonly recallId: bigint;
  readonly at: Date;
  /** Whether the run that asked came to an answer. */
  readonly hasAnswer: boolean;
  /** Of what was shown. */
  readonly used: readonly string[];
  readonly wrong: readonly string[];
}

export interface AnsweredRun {
  readonly runId: string;
  /** Ids of facts: what the session was shown up to the answer, what of that the answer holds, and what it holds besides. */
  readonly shown: readonly string[];
  readonly used: readonly string[];
  readonly rederived: readonly string[];
}

export interface Period {
  readonly since: Date;
  readonly until: Date;
}

export interface RecallCount {
  readonly kind: RecallKind;
  readonly count: number;
  /** Those that showed anything. */
  readonly hits: number;
  readonly factsShown: number;
  readonly p50Milliseconds: number;
  readonly p95Milliseconds: number;
  readonly factsMarkedWrong: number;
}

/** Facts, turns and pages, by whether they have the vector of what they mean. */
export interface EmbeddingCounts {
  readonly model: string;
  readonly made: number;
  readonly waiting: number;
  /** The model took none of them. */
  readonly refused: number;
}

export interface UsageStats {
  readonly recalls: readonly RecallCount[];
  readonly answers: number;
  readonly answersWithFacts: number;
  readonly answersWithUse: number;
  readonly answersWithRederivation: number;
  /** Of the valid facts in scope. */
  readonly factsByOrigin: readonly { readonly origin: FactOrigin; readonly count: number }[];
  /** By age in days, at most; 0 is for all that are older. */
  readonly factsByAge: readonly { readonly days: number; readonly count: number }[];
  readonly factsNeverShown: number;
  /** Those that served most answers, at most ten. */
  readonly mostUsed: readonly { readonly fact: Fact; readonly shown: number; readonly used: number }[];
  /** Undefined where no model makes vectors. */
  readonly embeddings: EmbeddingCounts | undefined;
}

export interface RecallPage {
  readonly limit: number;
  /** Only those that showed nothing. */
  readonly misses: boolean;
  readonly before: Date | undefined;
  /** Before this one; 0: the latest. */
  readonly beforeId: bigint;
  readonly kind: RecallKind | undefined;
  /** Each is in the query. */
  readonly words: readonly string[];
}

/** What a viewer, or a run in their name, asked of memory and made of it. Nobody sees another's. */
export interface UsageLog {
  /** Never throws: what was recalled serves without being on record. */
  recordRecall(viewer: Viewer, entry: RecallEntry): Promise<void>;
  /** Facts that a session was shown so far, and when it was first; undefined where it never asked. */
  shownTo(viewer: Viewer, sessionId: string): Promise<{ readonly factIds: readonly string[]; readonly since: Date } | undefined>;
  /** Facts that the viewer, or a run in their name, was shown at this time or later. */
  shownSince(viewer: Viewer, since: Date): Promise<ReadonlySet<string>>;
  /** @returns what is on record of the run: of a run that was recorded before, that */
  recordAnswer(viewer: Viewer, run: AnsweredRun): Promise<AnsweredRun>;
  recalls(viewer: Viewer, page: RecallPage): Promise<readonly LoggedRecall[]>;
  recall(viewer: Viewer, recallId: bigint): Promise<LoggedRecall | undefined>;
  /** Whether a fact did not belong where a recall showed it; of a recall that is not the viewer's nothing is noted. */
  mark(viewer: Viewer, recallId: bigint, factId: string, isWrong: boolean): Promise<void>;
  stats(viewer: Viewer, period: Period): Promise<UsageStats>;
}
