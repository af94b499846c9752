import { enumWord } from "@hlvm/ndjson/enum-word";
import { ApprovalKind, ApprovalState, ApprovalStateSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { useCall } from "../../api/use-call.ts";
import { ApprovalQuestion } from "../../items/approval-question.tsx";
import parts from "../../parts/parts.module.css";
import { RenderedLines } from "../../parts/code-lines.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { levelWord, personName } from "../../parts/words.ts";
import { useLists } from "../../store/list-store.ts";
import { usePage } from "../../store/page-context.ts";
import { LikeQuestions, likeQuestions } from "./like-questions.tsx";
import styles from "./approvals.module.css";

const TITLES: Readonly<Record<number, string>> = { [ApprovalKind.PLAN]: "Accept a plan", [ApprovalKind.QUESTION]: "Answer a question" };

interface ApprovalDetailProps {
  readonly approvalId: string;
  readonly title: (sessionId: string) => string;
}

/** One question with all that helps to decide; once somebody has answered, who did. */
export function ApprovalDetail({ approvalId, title }: ApprovalDetailProps) {
  const { clients, lists } = usePage();
  const { approvals } = useLists(lists);
  const isListed = approvals?.some((approval) => approval.approvalId === approvalId) ?? false;
  const [look, setLook] = useState(0);
  useEffect(() => setLook((count) => count + 1), [isListed]);
  const { value, trouble, again } = useCall(`${approvalId} ${look}`, (signal) => clients.policy.getApproval({ approvalId }, { signal }));
  if (trouble !== undefined) return <TroubleNote trouble={trouble} onAgain={again} />;
  const approval = value?.approval;
  if (approval === undefined) return <Skeleton rows={6} />;
  const { tool, kind, state, safetyLevel, sessionId, requestedBy, requestedAt, expiresAt, answeredBy, answeredAt, rendering } = approval;
  const alike = likeQuestions(approval, approvals ?? []);
  const isPending = state === ApprovalState.PENDING;
  return (
    <>
      <div>
        <div className={styles.head}>
          {isPending ? (
            <StateMark tone="warn">Waiting for you</StateMark>
          ) : (
            <StateMark tone={state === ApprovalState.APPROVED ? "ok" : "plain"}>{enumWord(ApprovalStateSchema, state)}</StateMark>
          )}
          <span>
            asked <RelativeTime at={requestedAt} />
          </span>
          <span>
            {isPending && expiresAt !== undefined ? (
              <>
                expires <RelativeTime at={expiresAt} />
              </>
            ) : null}
          </span>
        </div>
        <div className={styles.head}>
          <h2>{TITLES[kind] ?? `Run ${tool}`}</h2>
          {kind === ApprovalKind.UNSPECIFIED ? <span className={parts.chip}>{levelWord(safetyLevel)}</span> : null}
          <span />
        </div>
        <p className={parts.advice}>
          A run of <strong>{personName(requestedBy)}</strong> in{" "}
          <Link href={`/s/${sessionId}`}>{title(sessionId) || `session ${sessionId.slice(0, 8)}`}</Link>
        </p>
      </div>
      {isPending ? (
        <>
          <div className={styles.question}>
            <ApprovalQuestion approval={approval} />
          </div>
          {alike.length > 1 ? <LikeQuestions approvals={alike} title={title} /> : null}
        </>
      ) : (
        <>
          {rendering === undefined ? null : <RenderedLines lines={rendering.lines} />}
          <dl className={parts.pairs}>
            <dt>Answered by</dt>
            <dd>{answeredBy === "" ? "nobody" : personName(answeredBy)}</dd>
            <dt>When</dt>
            <dd>
              <RelativeTime at={answeredAt} />
            </dd>
            <dt>Why asked</dt>
            <dd>{approval.reason}</dd>
            {approval.answerText === "" ? null : (
              <>
                <dt>Said</dt>
                <dd>{shownProse(approval.answerText)}</dd>
              </>
            )}
          </dl>
        </>
      )}
    </>
  );
}
