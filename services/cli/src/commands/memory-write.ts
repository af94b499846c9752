import { createClient } from "@connectrpc/connect";
import { FactSchema, FactScope, FactType, MemoryService, ProposalState } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { counted } from "../terminal/sizes.ts";

export interface MemoryWriteFlags {
  readonly type?: "user" | "feedback" | "project" | "reference";
  readonly scope?: "personal" | "team" | "project";
  readonly subject?: string;
  readonly predicate?: string;
  readonly pinned?: boolean;
  readonly json?: boolean;
}

const TYPES = { user: FactType.USER, feedback: FactType.FEEDBACK, project: FactType.PROJECT, reference: FactType.REFERENCE };
const SCOPES = { personal: FactScope.PERSONAL, team: FactScope.TEAM, project: FactScope.PROJECT };

/** Remembers a fact; one of scope project for the folder that the command was called from. */
export async function memoryWrite(text: string, flags: MemoryWriteFlags, context: CommandContext): Promise<number> {
  if (text.trim() === "") throw wrongUsage("The fact is empty.", 'Say something: hlvm memory write "We deploy on Thursdays"');
  const { fact, supersededFactIds } = await withMesh(context, (transport) =>
    createClient(MemoryService, transport).writeFact({
      text,
      type: flags.type && TYPES[flags.type],
      scope: flags.scope && SCOPES[flags.scope],
      subject: flags.subject,
      predicate: flags.predicate,
      pinned: flags.pinned,
      project: readWorkspace("."),
    }),
  );
  if (flags.json === true)
    process.stdout.write(jsonLine({ ...(fact && messageJson(FactSchema, fact)), superseded_fact_ids: supersededFactIds }));
  else if (fact?.proposal === ProposalState.WAITING)
    process.stdout.write(`Proposed as ${fact.factId}: it holds once an approver accepts it (\`hlvm memory inbox list\`).\n`);
  else {
    const replaced = supersededFactIds.length === 0 ? "" : `, in place of ${counted(supersededFactIds.length, "older fact")}`;
    process.stdout.write(`Remembered as ${fact?.factId}${replaced}.\n`);
  }
  return EXIT_OK;
}
