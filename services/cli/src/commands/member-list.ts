import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  MemberRoleSchema,
  MemberSchema,
  MemberService,
  MemberState,
  RoleSource,
  type HeldRole,
  type Member,
} from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

const PAGE = 500;

/** All of them, a page at a time. */
export async function memberList(flags: { json?: boolean; text?: string }, context: CommandContext): Promise<number> {
  const members = await withMesh(context, async (transport) => {
    const client = createClient(MemberService, transport);
    const all: Member[] = [];
    for (;;) {
      const request = { text: flags.text ?? "", after: all.at(-1)?.principal ?? "", limit: PAGE };
      const { members: page, hasMore } = await client.listMembers(request);
      all.push(...page);
      if (!hasMore || page.length === 0) return all;
    }
  });
  if (flags.json === true) for (const member of members) process.stdout.write(jsonLine(messageJson(MemberSchema, member)));
  else if (members.length === 0) context.screen.note("Nobody has logged in yet. In local mode there is one user, and nobody logs in.");
  else process.stdout.write(table(["WHO", "NAME", "STATE", "ROLES", "TEAMS", "LAST SEEN"], members.map(rowOf)));
  return EXIT_OK;
}

function rowOf({ principal, name, state, roles, teams, lastSeenAt }: Member): string[] {
  return [
    printableLine(principal, 60),
    printableLine(name, 30),
    state === MemberState.SUSPENDED ? "suspended" : "active",
    roles.map(roleText).join(", ") || "none",
    teams.join(", "),
    lastSeenAt === undefined ? "never" : localTime(lastSeenAt),
  ];
}

/** With the group, where it is from one. */
export function roleText({ role, source, group }: HeldRole): string {
  const word = enumWord(MemberRoleSchema, role).replace("_", "-");
  return source === RoleSource.GROUP ? `${word} (${printableLine(group, 40)})` : word;
}
