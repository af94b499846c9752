import { MemberService, MemberState, type Member } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { useDeferredValue } from "react";
import { useSearchParams } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import { PageFrame } from "../../shell/page-frame.tsx";
import { usePage } from "../../store/page-context.ts";
import { GroupMappings } from "./group-mappings.tsx";
import { MemberRoles } from "./member-roles.tsx";
import { ServiceAccounts } from "./service-accounts.tsx";

const PAGE = 200;

/** Who is here, what they may and from where they have it. */
export function PeoplePage() {
  const { isTeam } = usePage();
  if (isTeam) return <Members />;
  return (
    <PageFrame title="People">
      <Empty title="There is one user here, and nobody logs in" command="npm start -- --team">
        <p>This is local mode. A company's people log in with its identity provider; this shows how that looks.</p>
      </Empty>
    </PageFrame>
  );
}

function Members() {
  const client = useClient(MemberService);
  const [search, setSearch] = useSearchParams();
  const query = search.get("q") ?? "";
  const text = useDeferredValue(query.trim());
  const found = useCall(text, (signal) => client.listMembers({ text, limit: PAGE }, { signal }));
  const me = useCall("me", (signal) => client.getMe({}, { signal }));
  return (
    <PageFrame title="People">
      <div className={table.form}>
        <input
          className={`${table.input} ${table.wide}`}
          type="search"
          aria-label="Search people"
          placeholder="Search by name or address"
          value={query}
          onChange={(event) => setSearch(event.target.value === "" ? {} : { q: event.target.value }, { replace: true })}
        />
      </div>
      <TroubleNote trouble={found.trouble} onAgain={found.again} />
      {found.value === undefined ? (
        found.trouble === undefined ? (
          <Skeleton rows={5} />
        ) : null
      ) : found.value.members.length === 0 ? (
        <Empty title="Nobody like that has logged in" command="hlvm member list" />
      ) : (
        <div className={table.scrolls} tabIndex={0} role="region" aria-label="People">
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">Who</th>
                <th scope="col">State</th>
                <th scope="col">Roles, and from where</th>
                <th scope="col">Teams</th>
                <th scope="col">Last seen</th>
                <th scope="col">Access</th>
              </tr>
            </thead>
            <tbody>
              {found.value.members.map((member) => (
                <MemberRow key={member.principal} member={member} isMe={member.principal === me.value?.principal} onChanged={found.again} />
              ))}
            </tbody>
          </table>
          {found.value.hasMore ? <p className={table.section}>There are more: search for whom you mean.</p> : null}
        </div>
      )}
      {found.value === undefined ? null : (
        <>
          <GroupMappings onChanged={found.again} />
          <ServiceAccounts />
        </>
      )}
    </PageFrame>
  );
}

function MemberRow({ member, isMe, onChanged }: { readonly member: Member; readonly isMe: boolean; readonly onChanged: () => void }) {
  const client = useClient(MemberService);
  const { principal, name, state, teams, lastSeenAt } = member;
  const isSuspended = state === MemberState.SUSPENDED;
  const change = useAction(async () => {
    if (isMe && !confirm("Suspend yourself? You are out at once, and only another administrator can let you in again.")) return;
    await (isSuspended ? client.resumeMember({ principal }) : client.suspendMember({ principal }));
    onChanged();
  });
  return (
    <tr>
      <td>
        {shownProse(name)} <span className={table.quiet}>{personName(principal)}</span>
        {isMe ? " (you)" : ""}
      </td>
      <td>
        <StateMark tone={isSuspended ? "danger" : "ok"}>{isSuspended ? "suspended" : "active"}</StateMark>
      </td>
      <td>
        <MemberRoles member={member} isMe={isMe} onChanged={onChanged} />
      </td>
      <td>{teams.join(", ")}</td>
      <td className={table.nowrap}>{lastSeenAt === undefined ? "never" : <RelativeTime at={lastSeenAt} />}</td>
      <td>
        <Button
          onClick={() => change.run()}
          disabled={change.isBusy}
          aria-label={`${isSuspended ? "Resume" : "Suspend"} ${personName(principal)}`}
        >
          {isSuspended ? "Resume" : "Suspend"}
        </Button>
        <TroubleNote trouble={change.trouble} />
      </td>
    </tr>
  );
}
