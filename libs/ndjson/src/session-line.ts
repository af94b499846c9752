import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { JsonObject } from "./json-object.ts";
import { runLine } from "./run-line.ts";

/** The version of the format of an export; a reader refuses what it does not know. Until 1 fields of events were in camelCase. */
export const EXPORT_FORMAT = 2;

const NO_FILES: ReadonlyMap<string, Uint8Array> = new Map();

/** The first line of an export: which session it is. */
export interface SessionLine extends JsonObject {
  readonly type: "session";
  readonly format: number;
  readonly session_id: string;
  readonly title: string;
  readonly workspace: string;
  readonly model: string;
  readonly created_at: string;
}

export function sessionLine({ sessionId, title, workspace, model, createdAt }: Session): SessionLine {
  const created = createdAt === undefined ? "" : timestampDate(createdAt).toISOString();
  return { type: "session", format: EXPORT_FORMAT, session_id: sessionId, title, workspace, model, created_at: created };
}

/**
 * An event's line in an export: as `runLine` has it, with the texts of attachments, and their bytes in base64 as `files` has them
 * by their hashes. Undefined where the file needs none: what
 * comes in pieces is whole in `assistant_message` and `tool_end`.
 */
export function exportLine(event: Event, files: ReadonlyMap<string, Uint8Array> = NO_FILES): object | undefined {
  const { payload } = event;
  if (payload.case === "messageDelta" || payload.case === "reasoningUpdate" || payload.case === "toolOutput") return undefined;
  const line = runLine(event);
  if (payload.case === "runStopped" && line?.type === "final") {
    const { sequence, turn, principal, at } = event;
    return {
      ...line,
      sequence: Number(sequence),
      iteration: turn,
      principal,
      at: at === undefined ? undefined : timestampDate(at).toISOString(),
    };
  }
  if (payload.case !== "userMessage" || line?.type !== "agent_event") return line;
  const attachments = payload.value.attachments.map((attachment) => {
    const { path, text, mediaType, sha256, size, width, height } = attachment;
    if (mediaType === "") return { path, characters: text.length, text };
    const data = Buffer.from(files.get(sha256) ?? []).toString("base64");
    return { path, media_type: mediaType, size, sha256, width, height, data };
  });
  return { ...line, event: { ...line.event, attachments } };
}
