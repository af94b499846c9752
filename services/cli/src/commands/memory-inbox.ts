import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { factChangeWord } from "@hlvm/ndjson/fact-change-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import { FactChangeSchema, FactScopeSchema, MemoryService, ProposalSchema, type Proposal } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { changeText } from "../memory/fact-view.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

const HEADINGS = ["PROPOSAL", "SINCE", "SCOPE", "BY", "SESSION", "WHAT", "TEXT"] as const;

/** What models, and members for the whole organization, proposed and nobody decided yet. */
export async function memoryInbox(flags: { readonly limit: number; readonly json?: boolean }, context: CommandContext): Promise<number> {
  const { proposals, moreExist } = await withMesh(context, (transport) =>
    createClient(MemoryService, transport).listProposals({ project: readWorkspace("."), limit: flags.limit }),
  );
  if (flags.json === true) for (const proposal of proposals) process.stdout.write(jsonLine(messageJson(ProposalSchema, proposal)));
  else if (proposals.length === 0) context.screen.note("Nothing waits.");
  else process.stdout.write(table(HEADINGS, proposals.map(proposalRow)));
  if (moreExist) context.screen.note(`These are the oldest ${proposals.length}; --limit shows more.`, "dim");
  return EXIT_OK;
}

/** Does what was proposed, or has it never be done. */
export async function memoryDecide(
  decision: "accept" | "reject",
  proposalId: string,
  flags: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const asked = { proposalId, project: readWorkspace(".") };
  const change = await withMesh(context, async (transport) => {
    const memory = createClient(MemoryService, transport);
    return (await (decision === "accept" ? memory.acceptProposal(asked) : memory.rejectProposal(asked))).change;
  });
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(FactChangeSchema, change!)));
  else {
    const what = `${factChangeWord(change!)}: ${printableLine(changeText(change!))}`;
    context.screen.note(`${what}\n\`hlvm memory undo ${change!.fact!.factId}\` takes it back.`);
  }
  return EXIT_OK;
}

function proposalRow({ fact, present, mayDecide }: Proposal): string[] {
  const { factId, validFrom, scope, writtenBy, sourceSessionId, proposesEnd, text } = fact!;
  const what = proposesEnd ? "end" : present === undefined ? "write" : "replace";
  const instead = present === undefined || proposesEnd ? "" : `  (in place of "${present.text}")`;
  const allowed = mayDecide ? what : `${what}, for an approver`;
  return [factId, localTime(validFrom), enumWord(FactScopeSchema, scope), writtenBy, sourceSessionId.slice(0, 8), allowed, text + instead];
}
