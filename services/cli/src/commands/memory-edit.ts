import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { messageJson } from "@hlvm/ndjson/message-json";
import { FactSchema, MemoryService, type EditFactRequestSchema } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";

export interface FactEdit {
  readonly factId: string;
  readonly change: NonNullable<MessageInitShape<typeof EditFactRequestSchema>["change"]>;
  /** What is said of it then. */
  readonly done: string;
}

/** Replaces, ends, pins or unpins a fact. */
export async function memoryEdit(
  { factId, change, done }: FactEdit,
  flags: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { fact } = await withMesh(context, (transport) =>
    createClient(MemoryService, transport).editFact({ factId, change, project: readWorkspace(".") }),
  );
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(FactSchema, fact!)));
  else {
    const now = fact!.factId === factId ? "" : ` It is fact ${fact!.factId} now.`;
    context.screen.note(`${done}${now} \`hlvm memory undo ${fact!.factId}\` takes it back.`);
  }
  return EXIT_OK;
}
