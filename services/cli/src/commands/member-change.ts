import { createClient } from "@connectrpc/connect";
import type { Role } from "@hlvm/identity/principal";
import { MemberRole, MemberSchema, MemberService, MemberState, type Member } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { printableLine } from "../terminal/printable.ts";
import { roleText } from "./member-list.ts";

export type MemberChange =
  | { readonly what: "putRole" | "removeRole"; readonly principal: string; readonly role: Role }
  | { readonly what: "suspendMember" | "resumeMember"; readonly principal: string };

/** What the contract calls each role. */
export const MEMBER_ROLES: Readonly<Record<Role, MemberRole>> = {
  developer: MemberRole.DEVELOPER,
  approver: MemberRole.APPROVER,
  admin: MemberRole.ADMIN,
  "security-auditor": MemberRole.SECURITY_AUDITOR,
};

/** Changes what one member may do. */
export async function memberChange(change: MemberChange, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const member = await withMesh(context, async (transport): Promise<Member | undefined> => {
    const client = createClient(MemberService, transport);
    const { principal } = change;
    if ("role" in change) return (await client[change.what]({ principal, role: MEMBER_ROLES[change.role] })).member;
    return (await client[change.what]({ principal })).member;
  });
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(MemberSchema, member!)));
  else context.screen.note(saidOf(member!));
  return EXIT_OK;
}

function saidOf({ principal, state, roles }: Member): string {
  const who = printableLine(principal);
  if (state === MemberState.SUSPENDED) return `${who} is suspended: what is open ends within seconds.`;
  return roles.length === 0 ? `${who} has no role.` : `${who}: ${roles.map(roleText).join(", ")}.`;
}
