import { createClient } from "@connectrpc/connect";
import { PersonalDataService } from "@hlvm/proto/hlvm/memory/v1/personal_data_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { confirm } from "../terminal/confirm.ts";
import { printableLine } from "../terminal/printable.ts";

interface PersonFlags {
  /** user:NAME; without it oneself. */
  readonly person?: string;
}

/** All that memory holds of a person, as NDJSON on standard output. */
export async function memoryPersonExport({ person = "" }: PersonFlags, context: CommandContext): Promise<number> {
  const count = await withMesh(context, async (transport) => {
    const client = createClient(PersonalDataService, transport);
    let written = 0;
    for (let cursor = ""; ;) {
      const { records, nextCursor } = await client.exportPersonalData({ principal: person, cursor });
      for (const { kind, json } of records) process.stdout.write(jsonLine({ type: kind, record: JSON.parse(json) as object }));
      written += records.length;
      if ((cursor = nextCursor) === "") return written;
      context.screen.status(`${written} records`);
    }
  });
  context.screen.status("");
  context.screen.note(`${count} records.`);
  return EXIT_OK;
}

/** Erases what memory holds of a person. The exit code is 1 where somebody said no. */
export async function memoryPersonErase(
  { person = "", yes, json }: PersonFlags & { readonly yes?: boolean; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const whose = person === "" ? "you" : printableLine(person);
  const shown = [
    `What memory holds of ${whose} goes for good: personal facts with their history, what was asked and recalled.`,
    "What is shared with a project or the organization stays, without the name. Backups keep what they have.",
  ];
  if (yes !== true && !(await confirm(shown, "Erase it?", context))) return EXIT_FAILED;
  const { counts } = await withMesh(context, (transport) =>
    createClient(PersonalDataService, transport).erasePersonalData({ principal: person }),
  );
  if (json === true) process.stdout.write(jsonLine(Object.fromEntries(counts.map(({ kind, count }) => [kind, count]))));
  else context.screen.note(`Erased: ${counts.map(({ kind, count }) => `${kind.replaceAll("_", " ")} ${count}`).join(", ")}.`);
  return EXIT_OK;
}
