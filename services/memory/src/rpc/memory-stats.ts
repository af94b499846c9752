import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import {
  FactFaultKind as EncodedFault,
  RecallKind as EncodedKind,
  type AuditFactsRequest,
  RecallEntrySchema,
  type GetMemoryStatsRequest,
  type GetRecallRequest,
  type ListRecallsRequest,
  type MarkRecallRequest,
  type RecordAnswerRequest,
} from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { FactPorts } from "../domain/projects.ts";
import type { SearchPorts } from "../domain/search-facts.ts";
import { auditFacts, type FactFaultKind } from "../domain/usage/audit-facts.ts";
import { markRecall, recallWith } from "../domain/usage/mark-recall.ts";
import { recordAnswer } from "../domain/usage/record-answer.ts";
import type { LoggedRecall, RecallKind, UsageLog } from "../domain/usage/usage-log.ts";
import { decodeFilter } from "./fact-change-codec.ts";
import { encodeFact, encodeOrigin } from "./fact-codec.ts";
import { personsViewer, viewerOf } from "./viewer-of.ts";

const DEFAULT_LIMIT = 50;
const DEFAULT_DAYS = 30;
const FORGOTTEN_DAYS = 90;
const DAY_MILLISECONDS = 86_400_000;
const MAXIMUM_AUDITED = 10_000;

const KINDS: Readonly<Record<RecallKind, EncodedKind>> = { run: EncodedKind.RUN, tool: EncodedKind.TOOL, search: EncodedKind.SEARCH };
const FAULTS: Readonly<Record<FactFaultKind, EncodedFault>> = {
  secret: EncodedFault.SECRET,
  duplicate: EncodedFault.DUPLICATE,
  contradiction: EncodedFault.CONTRADICTION,
  forgotten: EncodedFault.FORGOTTEN,
  "pinned-unseen": EncodedFault.PINNED_UNSEEN,
};

type Ports = SearchPorts & FactPorts & { readonly usage: UsageLog };

export function recordAnswerHandler(ports: Ports) {
  return async (request: RecordAnswerRequest, context: HandlerContext) => {
    const viewer = await viewerOf(context, ports.projects, request.project);
    const { used, rederived } = await recordAnswer(ports, viewer, request, callContext(context).signal);
    return { usedFactIds: [...used], rederivedFactIds: [...rederived] };
  };
}

export function getMemoryStatsHandler({ usage, projects }: Ports) {
  return async (request: GetMemoryStatsRequest, context: HandlerContext) => {
    const until = request.until === undefined ? new Date() : timestampDate(request.until);
    const since = request.since === undefined ? daysBefore(until, DEFAULT_DAYS) : timestampDate(request.since);
    const stats = await usage.stats(await viewerOf(context, projects, request.project), { since, until });
    return {
      ...stats,
      since: timestampFromDate(since),
      until: timestampFromDate(until),
      recalls: stats.recalls.map(({ kind, ...counts }) => ({ ...counts, kind: KINDS[kind] })),
      factsByOrigin: stats.factsByOrigin.map(({ origin, count }) => ({ origin: encodeOrigin(origin), count })),
      factsByAge: [...stats.factsByAge],
      mostUsed: stats.mostUsed.map(({ fact, ...times }) => ({ ...times, fact: encodeFact(fact) })),
    };
  };
}

export function listRecallsHandler({ usage, projects }: Ports) {
  return async ({ limit, misses, before, beforeId, kind, text }: ListRecallsRequest, context: HandlerContext) => {
    const recalls = await usage.recalls(await viewerOf(context, projects, ""), {
      limit: limit || DEFAULT_LIMIT,
      misses,
      before: before && timestampDate(before),
      beforeId,
      kind: (Object.keys(KINDS) as RecallKind[]).find((name) => KINDS[name] === kind),
      words: text.split(/\s+/).filter((word) => word !== ""),
    });
    return { recalls: recalls.map(encodeRecall) };
  };
}

export function getRecallHandler(ports: Ports) {
  return async ({ recallId }: GetRecallRequest, context: HandlerContext) => {
    const { recall, facts } = await recallWith(ports, await viewerOf(context, ports.projects, ""), recallId);
    return { recall: encodeRecall(recall), facts: facts.map(encodeFact) };
  };
}

export function markRecallHandler(ports: Ports) {
  return async ({ recallId, factId, wrong }: MarkRecallRequest, context: HandlerContext) => {
    const viewer = await personsViewer(context, ports.projects, "");
    return { recall: encodeRecall(await markRecall(ports, viewer, { recallId, factId, isWrong: wrong })) };
  };
}

export function auditFactsHandler({ store, usage, projects }: Ports) {
  return async ({ project }: AuditFactsRequest, context: HandlerContext) => {
    const viewer = await viewerOf(context, projects, project);
    const now = new Date();
    const { items } = await store.inScope(viewer, ({ history }) =>
      history.facts(decodeFilter(undefined), false, MAXIMUM_AUDITED, undefined),
    );
    const lately = await usage.shownSince(viewer, daysBefore(now, FORGOTTEN_DAYS));
    const faults = auditFacts(items, lately, now).map(({ kind, factIds, ...words }) => {
      return { ...words, kind: FAULTS[kind], factIds: [...factIds] };
    });
    return { faults, lookedAt: items.length };
  };
}

export function encodeRecallKind(kind: RecallKind): EncodedKind {
  return KINDS[kind];
}

function encodeRecall({ at, kind, shown, used, wrong, ...recall }: LoggedRecall) {
  const ids = { shownFactIds: [...shown], usedFactIds: [...used], wrongFactIds: [...wrong] };
  return create(RecallEntrySchema, { ...recall, ...ids, at: timestampFromDate(at), kind: KINDS[kind] });
}

function daysBefore(date: Date, days: number): Date {
  return new Date(date.getTime() - days * DAY_MILLISECONDS);
}
