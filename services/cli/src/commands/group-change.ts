import { createClient } from "@connectrpc/connect";
import type { Role } from "@hlvm/identity/principal";
import { MemberService } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { printableLine } from "../terminal/printable.ts";
import { MEMBER_ROLES } from "./member-change.ts";

export interface GroupGift {
  readonly role?: Role;
  readonly team?: string;
}

/** Begins or ends what a group gives. */
export async function groupChange(
  what: "putGroupMapping" | "removeGroupMapping",
  group: string,
  { role, team }: GroupGift,
  context: CommandContext,
): Promise<number> {
  if ((role === undefined) === (team === undefined))
    throw wrongUsage("Say what the group gives: --role ROLE, or --team TEAM.", "See `hlvm group map --help`.");
  const gives = team === undefined ? { case: "role" as const, value: MEMBER_ROLES[role!] } : { case: "team" as const, value: team };
  await withMesh(context, async (transport) => void (await createClient(MemberService, transport)[what]({ mapping: { group, gives } })));
  const gift = team === undefined ? `the role ${role}` : `a place in the team ${team}`;
  const verb = what === "putGroupMapping" ? "gives its members" : "no longer gives its members";
  context.screen.note(`${printableLine(group)} ${verb} ${gift}.`);
  return EXIT_OK;
}
