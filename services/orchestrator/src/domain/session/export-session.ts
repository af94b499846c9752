import type { Principal } from "@hlvm/identity/principal";
import { exportLine, sessionLine } from "@hlvm/ndjson/session-line";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Session as SessionMessage } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { EventLog } from "../log/event-log.ts";
import type { AttachedFiles } from "./attached-files.ts";
import { MarkdownTranscript } from "./markdown-transcript.ts";
import { withholdMemory } from "../sharing/withhold-memory.ts";
import { requireSession } from "./require-session.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

/** UTF-16 units, of at most three bytes each: a piece can be sent. */
const PIECE_LENGTH = 512 * 1024;

export interface Exported {
  readonly principal: Principal;
  readonly sessionId: string;
  readonly format: "ndjson" | "markdown";
  readonly signal: AbortSignal;
}

interface ExportPorts {
  readonly store: SessionStore;
  readonly log: Pick<EventLog, "read">;
  readonly attached: AttachedFiles;
  readonly encode: (session: Session) => SessionMessage;
}

/**
 * A session as one text, in pieces, up to where its log ended when it was asked for. The log holds no secrets, and so has the text none.
 * @throws HlvmError `session_not_found`
 */
export async function* exportSession({ principal, sessionId, format, signal }: Exported, ports: ExportPorts): AsyncGenerator<string, void> {
  const session = await requireSession(ports.store, principal, sessionId, "read");
  const transcript = format === "markdown" ? new MarkdownTranscript() : undefined;
  const textOf = async (event: Event): Promise<string> =>
    transcript?.add(event) ?? ndjson(exportLine(event, await filesOf(sessionId, event, ports.attached)));
  let text = transcript?.head(session) ?? ndjson(sessionLine(ports.encode(session)));
  for (let next = 1; next <= session.lastSequence;) {
    signal.throwIfAborted();
    const { events } = await ports.log.read(sessionId, next);
    if (events.length === 0) break;
    for (const event of withholdMemory(events, principal.id)) {
      if (Number(event.sequence) > session.lastSequence) break;
      text += await textOf(event);
      if (text.length < PIECE_LENGTH) continue;
      yield* pieces(text);
      text = "";
    }
    next = Number(events.at(-1)!.sequence) + 1;
  }
  yield* pieces(text + (transcript?.end() ?? ""));
}

async function filesOf(sessionId: string, { payload }: Event, attached: AttachedFiles): Promise<ReadonlyMap<string, Uint8Array>> {
  const hashes = payload.case === "userMessage" ? payload.value.attachments.map(({ sha256 }) => sha256) : [];
  return hashes.some((sha256) => sha256 !== "") ? attached.read(sessionId, hashes) : new Map();
}

function ndjson(line: object | undefined): string {
  return line === undefined ? "" : `${JSON.stringify(line)}\n`;
}

function* pieces(text: string): Generator<string, void> {
  for (let from = 0; from < text.length;) {
    // No half of a surrogate pair ends a piece.
    const isHalf = /[\uD800-\uDBFF]/.test(text[from + PIECE_LENGTH - 1] ?? "");
    const to = from + PIECE_LENGTH - (isHalf ? 1 : 0);
    yield text.slice(from, to);
    from = to;
  }
}
