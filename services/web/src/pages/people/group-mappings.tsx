import { MemberService, type GroupMapping, type MemberRole } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { ALL_ROLES, roleWord } from "./member-roles.tsx";

/** What the identity provider's groups give their members here. */
export function GroupMappings({ onChanged }: { readonly onChanged: () => void }) {
  const client = useClient(MemberService);
  const found = useCall("mappings", (signal) => client.listGroupMappings({}, { signal }));
  const [group, setGroup] = useState("");
  const [role, setRole] = useState<MemberRole>(ALL_ROLES[0]);
  const changed = (): void => {
    found.again();
    onChanged();
  };
  const map = useAction(async () => {
    await client.putGroupMapping({ mapping: { group: group.trim(), gives: { case: "role", value: role } } });
    setGroup("");
    changed();
  });
  const unmap = useAction(async (mapping: GroupMapping) => {
    await client.removeGroupMapping({ mapping });
    changed();
  });
  return (
    <section className={table.section}>
      <h2>Groups of the identity provider</h2>
      <TroubleNote trouble={found.trouble ?? map.trouble ?? unmap.trouble} onAgain={found.again} />
      <ul>
        {found.value?.mappings.map((mapping) => {
          const gift = mapping.gives.case === "team" ? `a place in the team ${mapping.gives.value}` : roleWord(mapping.gives.value ?? 0);
          return (
            <li key={`${mapping.group} ${gift}`} className={table.checked}>
              <p>{shownProse(mapping.group)}</p>
              <p>
                gives {gift}{" "}
                <Button look="bare" aria-label={`End what ${mapping.group} gives: ${gift}`} onClick={() => unmap.run(mapping)}>
                  <Icon of={Trash2} />
                </Button>
              </p>
            </li>
          );
        })}
      </ul>
      <form
        className={table.choices}
        onSubmit={(event) => {
          event.preventDefault();
          if (group.trim() !== "") map.run();
        }}
      >
        <input
          className={table.input}
          aria-label="Group, as the identity provider names it"
          placeholder="Group"
          value={group}
          onChange={(event) => setGroup(event.target.value)}
        />
        <select
          className={table.input}
          aria-label="Role that it gives"
          value={role}
          onChange={(event) => setRole(Number(event.target.value) as MemberRole)}
        >
          {ALL_ROLES.map((one) => (
            <option key={one} value={one}>
              {roleWord(one)}
            </option>
          ))}
        </select>
        <Button type="submit" disabled={map.isBusy}>
          Map the group
        </Button>
      </form>
    </section>
  );
}
