import type { ApprovalItem } from "@hlvm/conversation/item";
import { ApprovalKind } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Link } from "wouter";
import parts from "../parts/parts.module.css";
import { RelativeTime } from "../parts/relative-time.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { levelWord } from "../parts/words.ts";
import { ApprovalQuestion } from "./approval-question.tsx";
import styles from "./items.module.css";

const TITLES: Readonly<Record<number, string>> = {
  [ApprovalKind.PLAN]: "accept this plan",
  [ApprovalKind.QUESTION]: "answer a question",
};

/** A question in its conversation: whole, and answered in place. */
export function ApprovalCard({ item: { approval, state, outcome, workerSessionId } }: { readonly item: ApprovalItem }) {
  const { tool, safetyLevel, expiresAt, kind, approvalId } = approval;
  const isPending = state === "pending";
  const title = TITLES[kind] ?? `run ${tool}`;
  if (!isPending)
    return (
      <article className={styles.card} aria-label={`Answered: ${title}`}>
        <div className={styles.askedHead}>
          <StateMark tone={state === "approved" ? "ok" : "danger"}>{state}</StateMark>
          <span>{title}</span>
          <span>{outcome.replace(/^approval: /, "").replace("user:", "")}</span>
        </div>
      </article>
    );
  return (
    <article className={`${styles.card} ${styles.asked}`} aria-label={`Waiting for you: ${title}`}>
      <div className={styles.askedHead} role="status">
        <StateMark tone="warn">Waiting for you</StateMark>
        <span>
          {workerSessionId === "" ? "asks to " : <Link href={`/s/${workerSessionId}`}>a worker </Link>}
          {workerSessionId === "" ? null : "asks to "}
          <strong>{title}</strong>
        </span>
        {kind === ApprovalKind.UNSPECIFIED ? <span className={parts.chip}>{levelWord(safetyLevel)}</span> : null}
        <span>
          {expiresAt === undefined ? null : (
            <>
              expires <RelativeTime at={expiresAt} /> ·{" "}
            </>
          )}
          <Link href={`/approvals/${approvalId}`}>open</Link>
        </span>
      </div>
      <ApprovalQuestion approval={approval} />
    </article>
  );
}
