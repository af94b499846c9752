import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { GroupMappingSchema, MemberRoleSchema, MemberService, type GroupMapping } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

/** What each group of the identity provider gives. */
export async function groupList(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { mappings } = await withMesh(context, (transport) => createClient(MemberService, transport).listGroupMappings({}));
  if (flags.json === true) for (const mapping of mappings) process.stdout.write(jsonLine(messageJson(GroupMappingSchema, mapping)));
  else if (mappings.length === 0) context.screen.note("No group gives anything. One does by: hlvm group map GROUP --role developer");
  else process.stdout.write(table(["GROUP", "GIVES"], mappings.map(rowOf)));
  return EXIT_OK;
}

function rowOf({ group, gives }: GroupMapping): string[] {
  const what = gives.case === "team" ? `team ${gives.value}` : `role ${enumWord(MemberRoleSchema, gives.value ?? 0).replace("_", "-")}`;
  return [printableLine(group, 80), what];
}
