import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import { FactFaultKindSchema, FactFaultSchema, MemoryStatsService, type FactFault } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { printableLine } from "../terminal/printable.ts";
import { counted } from "../terminal/sizes.ts";

const MESSAGE_CHARACTERS = 400;

/** Facts that somebody should see to: secrets, duplicates, contradictions, pins that are not seen, what nobody needed for long. */
export async function memoryAudit({ json }: { readonly json?: boolean }, context: CommandContext): Promise<number> {
  const { faults, lookedAt } = await withMesh(context, (transport) =>
    createClient(MemoryStatsService, transport).auditFacts({ project: readWorkspace(".") }),
  );
  if (json === true) for (const fault of faults) process.stdout.write(jsonLine(messageJson(FactFaultSchema, fault)));
  else process.stdout.write(faults.map(lines).join("\n"));
  if (json !== true)
    context.screen.note(
      `${faults.length === 0 ? "Nothing is wrong with" : `${counted(faults.length, "thing")} to see to in`} ${counted(lookedAt, "fact")}.`,
      "dim",
    );
  return EXIT_OK;
}

function lines({ kind, message, advice, factIds }: FactFault): string {
  return `${enumWord(FactFaultKindSchema, kind)}: ${printableLine(message, MESSAGE_CHARACTERS)}\n  ${advice}\n${factIds.map((id) => `  ${id}\n`).join("")}`;
}
