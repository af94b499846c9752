import {
  MemberRole,
  MemberRoleSchema,
  MemberService,
  RoleSource,
  type HeldRole,
  type Member,
} from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { X } from "lucide-react";
import { useClient } from "../../api/use-client.ts";
import { useAction } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import { shownProse } from "../../parts/shown-text.ts";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";

export const ALL_ROLES = [MemberRole.DEVELOPER, MemberRole.APPROVER, MemberRole.ADMIN, MemberRole.SECURITY_AUDITOR] as const;

export function roleWord(role: MemberRole): string {
  return enumWord(MemberRoleSchema, role).replace("_", "-");
}

interface MemberRolesProps {
  readonly member: Member;
  readonly isMe: boolean;
  readonly onChanged: () => void;
}

/** What a member may: what was given by hand can be taken here, what comes from a group says from which. */
export function MemberRoles({ member: { principal, roles }, isMe, onChanged }: MemberRolesProps) {
  const client = useClient(MemberService);
  const give = useAction(async (role: MemberRole) => {
    await client.putRole({ principal, role });
    onChanged();
  });
  const take = useAction(async (role: MemberRole) => {
    if (isMe && !confirm(`Take the role ${roleWord(role)} from yourself? Only another administrator can give it back.`)) return;
    await client.removeRole({ principal, role });
    onChanged();
  });
  const missing = ALL_ROLES.filter((role) => !roles.some((held) => held.role === role));
  return (
    <div className={table.choices}>
      {roles.map((held) => (
        <Role key={`${held.role} ${held.group}`} held={held} who={personName(principal)} onTake={() => take.run(held.role)} />
      ))}
      {missing.length === 0 ? null : (
        <select
          className={table.input}
          aria-label={`Give ${personName(principal)} a role`}
          value=""
          disabled={give.isBusy}
          onChange={(event) => give.run(Number(event.target.value) as MemberRole)}
        >
          <option value="" disabled>
            Add…
          </option>
          {missing.map((role) => (
            <option key={role} value={role}>
              {roleWord(role)}
            </option>
          ))}
        </select>
      )}
      <TroubleNote trouble={give.trouble ?? take.trouble} />
    </div>
  );
}

function Role({
  held: { role, source, group },
  who,
  onTake,
}: {
  readonly held: HeldRole;
  readonly who: string;
  readonly onTake: () => void;
}) {
  if (source === RoleSource.GROUP)
    return (
      <span className={parts.chip}>
        {roleWord(role)}&nbsp;<span className={table.quiet}>from {shownProse(group)}</span>
      </span>
    );
  return (
    <span className={parts.chip}>
      {roleWord(role)}&nbsp;<span className={table.quiet}>by hand</span>
      <Button look="bare" aria-label={`Take the role ${roleWord(role)} from ${who}`} onClick={onTake}>
        <Icon of={X} size={12} />
      </Button>
    </span>
  );
}
