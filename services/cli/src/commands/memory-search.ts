import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { FactScopeSchema, FactTypeSchema, FoundFactSchema, MemoryService, type FoundFact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { explainedTable } from "./explained-table.ts";

export interface MemorySearchFlags {
  readonly limit: number;
  readonly json?: boolean;
  readonly explain?: boolean;
}

export async function memorySearch(query: string, flags: MemorySearchFlags, context: CommandContext): Promise<number> {
  if (query.trim() === "") throw wrongUsage("The search is empty.", "Say something: hlvm memory search deploy");
  const { facts, notice } = await withMesh(context, (transport) =>
    createClient(MemoryService, transport).searchFacts({ query, limit: flags.limit, project: readWorkspace(".") }),
  );
  if (notice !== "") context.screen.note(notice, "warning");
  if (flags.json === true) for (const found of facts) process.stdout.write(jsonLine(messageJson(FoundFactSchema, found)));
  else if (facts.length === 0) context.screen.note("Nothing that is remembered fits.");
  else if (flags.explain === true) process.stdout.write(explainedTable(facts));
  else process.stdout.write(table(["FACT", "TYPE", "SCOPE", "TEXT"], facts.map(row)));
  return EXIT_OK;
}

function row({ fact }: FoundFact): string[] {
  if (fact === undefined) return [];
  return [fact.factId, enumWord(FactTypeSchema, fact.type), enumWord(FactScopeSchema, fact.scope), fact.text];
}
