import { createClient } from "@connectrpc/connect";
import { TeamSchema, TeamService, type Team } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { printableLine } from "../terminal/printable.ts";

export type TeamChange =
  | { readonly what: "createTeam" | "deleteTeam"; readonly team: string }
  | { readonly what: "addTeamMember" | "removeTeamMember"; readonly team: string; readonly people: readonly string[] };

/** Changes a team; where one of several people cannot be added or removed, those before stay as they were made. */
export async function teamChange(change: TeamChange, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const team = await withMesh(context, async (transport): Promise<Team | undefined> => {
    const client = createClient(TeamService, transport);
    const { team } = change;
    if (change.what === "createTeam") return (await client.createTeam({ name: team })).team;
    if (change.what === "deleteTeam") return void (await client.deleteTeam({ name: team }));
    let changed: Team | undefined;
    for (const principal of "people" in change ? change.people : []) changed = (await client[change.what]({ team, principal })).team;
    return changed;
  });
  if (flags.json === true)
    process.stdout.write(jsonLine(team === undefined ? { name: change.team, deleted: true } : messageJson(TeamSchema, team)));
  else context.screen.note(team === undefined ? `The team ${change.team} is deleted.` : saidOf(team));
  return EXIT_OK;
}

function saidOf({ name, members }: Team): string {
  return members.length === 0 ? `Nobody is in ${name}.` : `In ${name}: ${printableLine(members.join(", "), 1_000)}.`;
}
