import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { EntityKind as EncodedKind, EntitySchema, ThreadEventSchema, type ThreadService } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import type { EntityKind } from "../domain/entities/entity.ts";
import type { Place } from "../domain/fact-history.ts";
import type { ProjectStore } from "../domain/projects.ts";
import type { CountedEntity, FactUse, ThreadEvent, ThreadStore } from "../domain/threads/thread.ts";
import { excerptOf } from "../domain/search/excerpt-of.ts";
import { transcriptLink } from "../domain/transcripts/transcript-link.ts";
import { encodeChange } from "./fact-change-codec.ts";
import { encodeFact } from "./fact-codec.ts";
import { encodeRecallKind } from "./memory-stats.ts";
import { encodeTurn } from "./transcripts.ts";
import { viewerOf } from "./viewer-of.ts";

const KINDS: Readonly<Record<EntityKind, EncodedKind>> = {
  path: EncodedKind.PATH,
  symbol: EncodedKind.SYMBOL,
  package: EncodedKind.PACKAGE,
  issue: EncodedKind.ISSUE,
  person: EncodedKind.PERSON,
  name: EncodedKind.NAME,
  url: EncodedKind.URL,
};
const DEFAULT_EVENTS = 50;
const MOST_RELATIONS = 50;
const PLACE = /^(?<at>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z) (?<id>[^\0]{1,200})$/;

export interface ThreadPorts {
  readonly threads: ThreadStore;
  readonly projects: ProjectStore;
}

export function threadMethods({ threads, projects }: ThreadPorts): ServiceImpl<typeof ThreadService> {
  return {
    getThread: async ({ name, kind, project, limit, pageToken }, context) => {
      const viewer = await viewerOf(context, projects, project);
      const named = (Object.keys(KINDS) as EntityKind[]).find((one) => KINDS[one] === kind);
      const question = {
        name: name.replaceAll("\0", "").trim(),
        kind: named,
        limit: limit || DEFAULT_EVENTS,
        before: decodePlace(pageToken),
      };
      const thread = await threads.get(viewer, question);
      const { entities, fact, sessionId, similar, facts, events, end, related } = thread;
      const slotted = facts.filter((one) => one.subject !== "" && one.predicate !== "" && one.validTo === undefined);
      return {
        entities: entities.map(encodeEntity),
        fact: fact && encodeFact(fact),
        sessionId,
        similar: similar.map(encodeEntity),
        facts: facts.map(encodeFact),
        events: events.map((event) => encodeEvent(event, question.name)),
        nextPageToken: end === undefined ? "" : Buffer.from(`${end.at} ${end.id}`).toString("base64url"),
        related: related.map(encodeEntity),
        relations: slotted.slice(0, MOST_RELATIONS).map(({ id, subject, predicate, text }) => {
          return { subject, predicate, object: text, factId: id };
        }),
      };
    },
  };
}

function encodeEntity({ kind, name, items, isFoundByModel }: CountedEntity) {
  return create(EntitySchema, { kind: KINDS[kind], name, items, isFoundByModel });
}

function encodeEvent(event: ThreadEvent, name: string) {
  return create(ThreadEventSchema, { at: timestampFromDate(event.at), event: whatHappened(event, name) });
}

function whatHappened(event: ThreadEvent, name: string): MessageInitShape<typeof ThreadEventSchema>["event"] {
  if (event.what === "change") return { case: "change", value: encodeChange(event.change) };
  if (event.what !== "turn") return { case: event.what, value: encodeUse(event.use) };
  const { transcript, turn } = event;
  const value = {
    ...transcript,
    turn: encodeTurn({ ...turn, text: excerptOf(turn.text, name) }),
    link: transcriptLink(transcript, turn.ordinal),
  };
  return { case: "turn", value };
}

function encodeUse({ kind, factIds, ...use }: FactUse) {
  return { ...use, kind: kind && encodeRecallKind(kind), factIds: [...factIds] };
}

/** Where a page ended tells nothing of what there is: what is seen behind it is what the viewer sees. @throws HlvmError `page_token_invalid` */
function decodePlace(token: string): Place | undefined {
  if (token === "") return undefined;
  const { at, id } = PLACE.exec(Buffer.from(token, "base64url").toString())?.groups ?? {};
  const time = at === undefined ? undefined : new Date(at);
  if (at !== undefined && id !== undefined && !Number.isNaN(time!.getTime()) && time!.toISOString().slice(0, 19) === at.slice(0, 19))
    return { at, id };
  throw new HlvmError({
    code: "invalid_argument",
    reason: "page_token_invalid",
    message: "The token is none that an answer ended with.",
    advice: "Give it as it came, or leave it out to begin anew.",
  });
}
