import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  ChangedFile_Content_Kind as Kind,
  type ChangedFileSchema,
  type GetChangesRequest,
  type GetChangesResponseSchema,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { ChangedContent } from "../domain/prepared/read-changes.ts";
import type { Owner } from "../domain/receipts.ts";
import { sessionChanges, type SessionChange } from "../domain/session-changes.ts";
import type { Domain } from "./routes.ts";

const kinds = { file: Kind.FILE, executable: Kind.EXECUTABLE, link: Kind.LINK };

/** What a session has changed in the workspace that was prepared for it; in any other only where that is asked for. */
export async function getChanges(
  { sessions, prepared, placements }: Pick<Domain, "sessions" | "prepared" | "placements">,
  owner: Owner,
  { sessionId, anyWorkspace }: GetChangesRequest,
  context: HandlerContext,
): Promise<MessageInitShape<typeof GetChangesResponseSchema>> {
  const { signal } = callContext(context);
  if (!anyWorkspace) {
    const { files, leftOut } = await prepared.changes(owner, sessionId, signal);
    return { files: files.map(message), leftOut: [...leftOut] };
  }
  const changes = await sessionChanges(owner, sessionId, { sessions, prepared, placements }, signal);
  return {
    files: changes.files.map(message),
    leftOut: [...changes.leftOut],
    leftOutChanges: changes.leftOutChanges.map(({ path, why }) => ({ path: bytesOf(path), why })),
    furtherChanges: changes.furtherChanges,
  };
}

function message({ path, before, after, changedByOthers }: SessionChange): MessageInitShape<typeof ChangedFileSchema> {
  return { path: bytesOf(path), before: contentOf(before), after: contentOf(after), changedByOthers };
}

function contentOf(content: ChangedContent | undefined) {
  return content === undefined ? undefined : { kind: kinds[content.kind], bytes: bytesOf(content.bytes) };
}

/** Of one buffer with the other files: only its own bytes are the message's. */
function bytesOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
