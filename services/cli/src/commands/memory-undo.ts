import { createClient } from "@connectrpc/connect";
import { factChangeWord } from "@hlvm/ndjson/fact-change-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import { FactChangeSchema, MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { changeText } from "../memory/fact-view.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { printableLine } from "../terminal/printable.ts";

export interface MemoryUndoFlags {
  /** The last change as somebody saw it; whichever is the last one now where it is not said. */
  readonly change?: string;
  readonly json?: boolean;
}

/** Takes back what was done last to a fact. */
export async function memoryUndo(factId: string, flags: MemoryUndoFlags, context: CommandContext): Promise<number> {
  const project = readWorkspace(".");
  const change = await withMesh(context, async (transport) => {
    const memory = createClient(MemoryService, transport);
    const { changes } = await memory.getFact({ factId, project });
    return (await memory.undoFactChange({ changeId: flags.change ?? changes[0]?.changeId, project })).change!;
  });
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(FactChangeSchema, change)));
  else context.screen.note(`${factChangeWord(change)}, ${printableLine(changeText(change))}`);
  return EXIT_OK;
}
