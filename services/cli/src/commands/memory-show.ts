import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import {
  FactOriginSchema,
  FactScopeSchema,
  FactTypeSchema,
  GetFactResponseSchema,
  MemoryService,
  type Fact,
} from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { CHANGE_HEADINGS, changeRow, factState } from "../memory/fact-view.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { printable, printableLine } from "../terminal/printable.ts";

/** A fact, and all that was done to it and to those that it replaced or was replaced by. */
export async function memoryShow(factId: string, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const found = await withMesh(context, (transport) =>
    createClient(MemoryService, transport).getFact({ factId, project: readWorkspace(".") }),
  );
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(GetFactResponseSchema, found)));
  else process.stdout.write(`${aboutText(found.fact!)}\n${table(CHANGE_HEADINGS, found.changes.map(changeRow))}`);
  if (found.moreExist) context.screen.note("There are earlier changes.", "dim");
  return EXIT_OK;
}

function aboutText(fact: Fact): string {
  const { text, scope, type, origin, writtenBy, subject, predicate, foundSubject, foundPredicate, category, tags, validFrom, validTo } =
    fact;
  const about = [
    [enumWord(FactScopeSchema, scope), enumWord(FactTypeSchema, type), factState(fact)].filter(Boolean).join(", "),
    `${enumWord(FactOriginSchema, origin).replaceAll("_", " ")}, by ${writtenBy}`,
    validTo === undefined ? `since ${localTime(validFrom)}` : `from ${localTime(validFrom)} to ${localTime(validTo)}`,
    subject === "" ? "" : `${subject}: ${predicate}`,
    foundSubject === "" ? "" : `a model takes it to be about ${foundSubject}: ${foundPredicate}`,
    [category, ...tags].filter(Boolean).join(", "),
  ];
  return `${printable(text)}\n${about
    .filter(Boolean)
    .map((line) => `  ${printableLine(line)}\n`)
    .join("")}`;
}
