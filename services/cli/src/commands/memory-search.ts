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
  else if (flags.explain === true) process.stdout.write(table(EXPLAINED, facts.map(explained)));
  else process.stdout.write(table(["FACT", "TYPE", "SCOPE", "TEXT"], facts.map(row)));
  return EXIT_OK;
}

function row({ fact }: FoundFact): string[] {
  if (fact === undefined) return [];
  return [fact.factId, enumWord(FactTypeSchema, fact.type), enumWord(FactScopeSchema, fact.scope), fact.text];
}

const EXPLAINED = ["SCORE", "WORDS", "BESIDE", "SESSION", "WHO", "WHEN", "MEANS", "SAID BY", "AGE", "COVERS", "BY WORD", "TEXT"];

/** The sum of words to means, times said by, times age, is the score; covers is what recall's gate looks at. */
function explained({ fact, score, parts }: FoundFact): string[] {
  if (fact === undefined || parts === undefined) return [];
  const { terms, neighbours, container, actor, date, similarity, provenance, tieBreak, coverage, gate } = parts;
  const words = terms.reduce((sum, term) => sum + term.score, 0);
  const added = [words, neighbours, container, actor, date, similarity].map((part) => part.toFixed(2));
  const factors = [provenance, tieBreak].map((factor) => `×${factor.toFixed(2)}`);
  const covers = `${coverage.toFixed(2)} ${coverage >= gate ? "≥" : "<"} ${gate.toFixed(2)}`;
  return [
    score.toFixed(2),
    ...added,
    ...factors,
    covers,
    terms.map((term) => `${term.term} ${term.score.toFixed(2)}`).join(" "),
    fact.text,
  ];
}
