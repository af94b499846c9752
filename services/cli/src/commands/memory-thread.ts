import { createClient } from "@connectrpc/connect";
import { messageJson } from "@hlvm/ndjson/message-json";
import { EntityKind, GetThreadResponseSchema, ThreadService } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import type { entityKindWords } from "@hlvm/proto/hlvm/memory/v1/thread_words";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { entitiesText, threadText } from "../memory/thread-text.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";

export interface MemoryThreadFlags {
  readonly kind?: (typeof entityKindWords)[number];
  readonly limit: number;
  readonly page?: string;
  readonly json?: boolean;
}

/** One entity, fact or session through time. */
export async function memoryThread(name: string, flags: MemoryThreadFlags, context: CommandContext): Promise<number> {
  if (name.trim() === "") throw wrongUsage("The name is empty.", "Name something: hlvm memory thread src/deploy.ts");
  const kind = flags.kind === undefined ? undefined : EntityKind[flags.kind.toUpperCase() as keyof typeof EntityKind];
  const { limit, page: pageToken = "" } = flags;
  const thread = await withMesh(context, (transport) =>
    createClient(ThreadService, transport).getThread({ name, kind, limit, pageToken, project: readWorkspace(".") }),
  );
  const { entities, fact, sessionId, similar, nextPageToken } = thread;
  const isKnown = entities.length > 0 || fact !== undefined || sessionId !== "";
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(GetThreadResponseSchema, thread)));
  else if (isKnown) process.stdout.write(threadText(thread, Date.now(), process.stdout.isTTY && context.config.noColor === ""));
  else context.screen.note("Nothing that is remembered speaks of it.");
  if (similar.length > 0) context.screen.note(`There are also ${entitiesText(similar)}`, "dim");
  if (nextPageToken !== "") context.screen.note(`Earlier: --page ${nextPageToken}`, "dim");
  return isKnown ? EXIT_OK : EXIT_FAILED;
}
