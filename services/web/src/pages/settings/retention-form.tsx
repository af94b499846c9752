import { useState } from "react";
import { MemberRole, MemberService } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { PersonalDataService, RetentionScope, type Retention } from "@hlvm/proto/hlvm/memory/v1/personal_data_pb";
import { useAction, useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import { usePage } from "../../store/page-context.ts";

const SCOPES = [
  [RetentionScope.PERSONAL, "Personal facts that have ended", "for good"],
  [RetentionScope.TEAM, "Facts for everybody that have ended", "for good"],
  [RetentionScope.PROJECT, "Facts of projects that have ended", "for good"],
  [RetentionScope.LOG, "What was asked of memory", "90 days"],
] as const;
const MOST_DAYS = 36_500;

/** How long an organization keeps what is over. Administrators change it, the others read it. */
export function RetentionForm() {
  const client = useClient(PersonalDataService);
  const members = useClient(MemberService);
  const { isTeam } = usePage();
  const kept = useCall("retention", (signal) => client.listRetention({}, { signal }));
  const me = useCall("me", async (signal) => (isTeam ? members.getMe({}, { signal }) : undefined));
  const mayChange = !isTeam || me.value?.roles.includes(MemberRole.ADMIN) === true;
  const set = useAction(async (scope: RetentionScope, days: number) => {
    await client.setRetention({ scope, days });
    kept.again();
  });
  return (
    <>
      <h3>Kept for</h3>
      <TroubleNote trouble={kept.trouble ?? set.trouble} onAgain={kept.trouble === undefined ? undefined : kept.again} />
      <ul aria-label="How long memory keeps what is over">
        {SCOPES.map(([scope, name, unset]) => {
          const retention = kept.value?.retention.find((one) => one.scope === scope);
          return (
            <li key={scope} className={table.checked}>
              <p>{name}</p>
              {kept.value === undefined ? null : mayChange ? (
                <Days
                  key={retention?.days ?? 0}
                  name={name}
                  unset={unset}
                  days={retention?.days ?? 0}
                  isBusy={set.isBusy}
                  onSet={(days) => set.run(scope, days)}
                />
              ) : (
                <p>{keptFor(retention, unset)}</p>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function keptFor(retention: Retention | undefined, unset: string): string {
  return retention === undefined ? unset : `${retention.days} days, set by ${personName(retention.changedBy)}`;
}

interface DaysProps {
  readonly name: string;
  /** How long it is where nothing is set. */
  readonly unset: string;
  /** 0: nothing is set. */
  readonly days: number;
  readonly isBusy: boolean;
  readonly onSet: (days: number) => void;
}

function Days({ name, unset, days, isBusy, onSet }: DaysProps) {
  const [text, setText] = useState(days === 0 ? "" : String(days));
  const wanted = Number(text || "0");
  return (
    <form
      className={table.choices}
      onSubmit={(event) => {
        event.preventDefault();
        // It does not come back.
        if (wanted === 0 || confirm(`${name}: what is older than ${wanted} days goes for good. Set it?`)) onSet(wanted);
      }}
    >
      <input
        className={table.input}
        type="number"
        min={1}
        max={MOST_DAYS}
        aria-label={`Days: ${name}`}
        placeholder={unset}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" aria-label={`Set: ${name}`} disabled={isBusy || wanted === days}>
        Set
      </Button>
    </form>
  );
}
