import { ApprovalKind, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ArrowLeft, ListChecks, MessageCircleQuestion, ShieldQuestion, type LucideIcon } from "lucide-react";
import { useEffect } from "react";
import { Link, useLocation } from "wouter";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownCode } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { tellingText } from "../../parts/telling-text.ts";
import { personName } from "../../parts/words.ts";
import { PageFrame } from "../../shell/page-frame.tsx";
import { isField } from "../../shell/is-field.ts";
import { useLists } from "../../store/list-store.ts";
import { usePage } from "../../store/page-context.ts";
import { readSettings } from "../settings/page-settings.ts";
import { ApprovalDetail } from "./approval-detail.tsx";
import { LastAnswers } from "./last-answers.tsx";
import styles from "./approvals.module.css";

/** What waits for an answer, oldest first, and the one that is looked at, whole. */
export function ApprovalsPage({ approvalId }: { readonly approvalId: string | undefined }) {
  const { lists } = usePage();
  const { approvals, sessions } = useLists(lists);
  const titles = new Map(sessions?.map(({ sessionId, title }) => [sessionId, title]));
  // A phone shows the queue first; beside a queue there is room for one that nobody chose.
  const shown = approvalId ?? approvals?.[0]?.approvalId;
  useKeys(approvals ?? [], shown);
  const waiting = approvals?.length ?? 0;
  return (
    <PageFrame
      title={waiting === 0 ? "Approvals" : `Approvals: ${waiting} wait${waiting === 1 ? "s" : ""}`}
      command={approvalId === undefined ? "hlvm approval list" : `hlvm approval show ${approvalId}`}
      above={
        approvalId === undefined ? null : (
          <Link href="/approvals" className={styles.back} aria-label="All approvals">
            <Icon of={ArrowLeft} size={20} />
          </Link>
        )
      }
    >
      <div className={styles.approvals}>
        <section className={styles.queue} data-hidden={approvalId !== undefined} aria-label="Queue" tabIndex={-1}>
          {approvals === undefined ? (
            <Skeleton rows={4} />
          ) : approvals.length === 0 ? (
            <Empty title="Nothing waits" command="hlvm approval list">
              <p>What an agent may not do by itself is asked here.</p>
            </Empty>
          ) : (
            <>
              <div className={styles.group}>
                <h2>Yours to answer</h2>
                <span>{waiting}</span>
                <span>oldest first</span>
              </div>
              <ul>
                {approvals.map((approval) => (
                  <li key={approval.approvalId}>
                    <QueueRow approval={approval} title={titles.get(approval.sessionId) ?? ""} isShown={approval.approvalId === shown} />
                  </li>
                ))}
              </ul>
            </>
          )}
          <LastAnswers version={waiting} />
        </section>
        <section className={styles.detail} data-hidden={approvalId === undefined} aria-label="Question">
          {shown === undefined ? null : (
            <ApprovalDetail key={shown} approvalId={shown} title={(sessionId) => titles.get(sessionId) ?? ""} />
          )}
        </section>
      </div>
    </PageFrame>
  );
}

const ICONS: Readonly<Record<number, LucideIcon>> = { [ApprovalKind.PLAN]: ListChecks, [ApprovalKind.QUESTION]: MessageCircleQuestion };

function QueueRow({ approval, title, isShown }: { readonly approval: Approval; readonly title: string; readonly isShown: boolean }) {
  const { approvalId, tool, kind, safetyLevel, requestedBy, requestedAt, expiresAt, argumentsJson } = approval;
  return (
    <Link href={`/approvals/${approvalId}`} className={styles.row} aria-current={isShown ? "true" : undefined}>
      <Icon of={ICONS[kind] ?? ShieldQuestion} />
      <span className={styles.first}>
        <strong>{tool}</strong>
        <code>{shownCode(tellingText(argumentsJson))}</code>
      </span>
      <span className={styles.times}>
        <RelativeTime at={requestedAt} isShort />
      </span>
      <span className={styles.second}>
        {kind === ApprovalKind.UNSPECIFIED ? <span className={parts.chip}>L{safetyLevel - 1}</span> : null}
        <span>{personName(requestedBy)}</span>
        <span>{title}</span>
      </span>
      <span className={`${styles.times} ${styles.left}`}>{expiresAt === undefined ? null : <RelativeTime at={expiresAt} />}</span>
    </Link>
  );
}

/** `j` and `k` move through the queue, `y`, `s` and `n` press the shown question's buttons. */
function useKeys(approvals: readonly Approval[], shown: string | undefined): void {
  const [, navigate] = useLocation();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isField(event.target) || !readSettings().hasKeys) return;
      if (event.key === "j" || event.key === "k") {
        const at = approvals.findIndex(({ approvalId }) => approvalId === shown);
        const next = approvals[at + (event.key === "j" ? 1 : -1)];
        if (next !== undefined) navigate(`/approvals/${next.approvalId}`);
      }
      if (/^[ysn]$/.test(event.key))
        document.querySelector<HTMLButtonElement>(`[data-answers] [aria-keyshortcuts="${event.key}"]`)?.click();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [approvals, shown, navigate]);
}
