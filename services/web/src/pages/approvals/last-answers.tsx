import { ApprovalState, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Link } from "wouter";
import { useCall } from "../../api/use-call.ts";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { StateMark, type Tone } from "../../parts/state-mark.tsx";
import { personName } from "../../parts/words.ts";
import { usePage } from "../../store/page-context.ts";
import styles from "./approvals.module.css";

const SHOWN = 10;
const ANSWERED: Readonly<Partial<Record<ApprovalState, readonly [Tone, string]>>> = {
  [ApprovalState.APPROVED]: ["ok", "approved"],
  [ApprovalState.DENIED]: ["danger", "denied"],
  [ApprovalState.EXPIRED]: ["plain", "expired"],
};
const STATES = Object.keys(ANSWERED).map(Number) as ApprovalState[];

/** What was answered last, or was not in time. */
export function LastAnswers({ version }: { readonly version: number }) {
  const { clients } = usePage();
  const { value } = useCall(String(version), (signal) => clients.policy.listApprovals({ states: STATES, pageSize: SHOWN }, { signal }));
  if (value === undefined || value.approvals.length === 0) return null;
  return (
    <>
      <div className={styles.group}>
        <h2>Last answers</h2>
      </div>
      <ul>
        {value.approvals.map((approval) => (
          <AnsweredRow key={approval.approvalId} approval={approval} />
        ))}
      </ul>
    </>
  );
}

function AnsweredRow({ approval: { approvalId, tool, state, answeredBy, answeredAt, expiresAt } }: { readonly approval: Approval }) {
  const [tone, word] = ANSWERED[state] ?? ["plain", ""];
  return (
    <li className={styles.answered}>
      <StateMark tone={tone}>{word}</StateMark>
      <Link href={`/approvals/${approvalId}`}>{tool}</Link>
      <span>{answeredBy === "" ? "nobody" : personName(answeredBy)}</span>
      <span className={styles.times}>
        <RelativeTime at={answeredAt ?? expiresAt} isShort />
      </span>
    </li>
  );
}
