import { createClient } from "@connectrpc/connect";
import { TeamSchema, TeamService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

/** The teams that one may see, by name. */
export async function teamList(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { teams } = await withMesh(context, (transport) => createClient(TeamService, transport).listTeams({}));
  if (flags.json === true) for (const team of teams) process.stdout.write(jsonLine(messageJson(TeamSchema, team)));
  else if (teams.length === 0) context.screen.note("There are no teams to see. An administrator makes one by: hlvm team create NAME");
  else
    process.stdout.write(
      table(
        ["TEAM", "MEMBERS"],
        teams.map(({ name, members }) => [name, printableLine(members.join(", "), 200)]),
      ),
    );
  return EXIT_OK;
}
