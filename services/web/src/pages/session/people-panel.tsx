import { SessionRight, SharingService, type SessionGrant } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trash2 } from "lucide-react";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import { CommentForm } from "./comment-form.tsx";
import styles from "./session.module.css";
import { ShareForm } from "./share-form.tsx";

const RIGHT_WORDS: Readonly<Record<number, string>> = {
  [SessionRight.VIEW]: "may read it",
  [SessionRight.COMMENT]: "may read it and comment",
  [SessionRight.DRIVE]: "drives it: asks, steers, stops, undoes",
  [SessionRight.OWN]: "drives it, and may take it over",
};

interface PeoplePanelProps {
  readonly session: Session;
  /** The session is another person's now. */
  readonly onChanged: () => void;
}

/** Who may see, comment and drive a session, for whoever may read it; its owner changes that. */
export function PeoplePanel({ session, onChanged }: PeoplePanelProps) {
  const { sessionId, owner, right, offered } = session;
  const sharing = useClient(SharingService);
  const found = useCall(`${sessionId} ${owner}`, (signal) => sharing.listGrants({ sessionId }, { signal }));
  const remove = useAction(async ({ to }: SessionGrant) => {
    await sharing.removeGrant({ sessionId, grant: { to } });
    found.again();
  });
  const take = useAction(async () => {
    await sharing.takeSession({ sessionId });
    onChanged();
  });
  const isOwner = right === SessionRight.OWN;
  return (
    <>
      <TroubleNote trouble={found.trouble ?? remove.trouble ?? take.trouble} onAgain={found.again} />
      {offered ? (
        <div className={styles.note}>
          <p>{personName(owner)} offers you this session.</p>
          <Button look="primary" disabled={take.isBusy} onClick={() => take.run()}>
            Take it over
          </Button>
        </div>
      ) : null}
      <ul>
        <li className={styles.person}>
          <strong>{personName(owner)}</strong>
          <span>owns it</span>
        </li>
        {found.value?.grants.map((grant) => (
          <li key={granteeWord(grant)} className={styles.person}>
            <strong>{granteeWord(grant)}</strong>
            <span>
              {RIGHT_WORDS[grant.right]}
              {grant.until === undefined ? null : (
                <>
                  , until <RelativeTime at={grant.until} />
                </>
              )}
            </span>
            {isOwner ? (
              <Button look="bare" aria-label={`Do not share it with ${granteeWord(grant)}`} onClick={() => remove.run(grant)}>
                <Icon of={Trash2} size={14} />
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {found.value === undefined && found.trouble === undefined ? <Skeleton rows={2} /> : null}
      {isOwner ? <ShareForm sessionId={sessionId} onShared={found.again} /> : null}
      {right >= SessionRight.COMMENT ? <CommentForm sessionId={sessionId} /> : null}
      <p className={styles.note}>
        A run acts with the rights of whoever started it. What memory recalled for one person, others do not see.
      </p>
    </>
  );
}

function granteeWord({ to }: Pick<SessionGrant, "to">): string {
  if (to.case === "principal") return personName(to.value);
  return to.case === "team" ? `team ${to.value}` : "everybody in the organization";
}
