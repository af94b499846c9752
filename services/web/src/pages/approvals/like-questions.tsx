import { ApprovalAnswer, ApprovalKind, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { useRef, useState } from "react";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { RenderedLines } from "../../parts/code-lines.tsx";
import parts from "../../parts/parts.module.css";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import { usePage } from "../../store/page-context.ts";
import styles from "./approvals.module.css";

/** So many are answered at once: more at a time nobody reads. */
const MOST_TOGETHER = 20;
const TOGETHER: ReadonlySet<SafetyLevel> = new Set([SafetyLevel.L0, SafetyLevel.L1]);

/** Those that may be answered together with one: the same tool, level and reason, and nothing that cannot be undone. */
export function likeQuestions(one: Approval, approvals: readonly Approval[]): Approval[] {
  if (one.kind !== ApprovalKind.UNSPECIFIED || !TOGETHER.has(one.safetyLevel)) return [];
  const isLike = ({ kind, tool, safetyLevel, reason }: Approval): boolean =>
    kind === one.kind && tool === one.tool && safetyLevel === one.safetyLevel && reason === one.reason;
  return approvals.filter(isLike).slice(0, MOST_TOGETHER);
}

/** Like questions, each whole and each to be left out, with one answer for the rest. */
export function LikeQuestions({
  approvals,
  title,
}: {
  readonly approvals: readonly Approval[];
  readonly title: (sessionId: string) => string;
}) {
  const { clients, lists } = usePage();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const idempotencyKey = useRef(crypto.randomUUID());
  const ids = approvals.map(({ approvalId }) => approvalId);
  const whole = useCall(ids.join(" "), (signal) =>
    Promise.all(ids.map((approvalId) => clients.policy.getApproval({ approvalId }, { signal }))),
  );
  const shown = whole.value?.flatMap(({ approval }) => approval ?? []) ?? [];
  const chosen = shown.filter(({ approvalId, rendering }) => !left.has(approvalId) && rendering?.omittedCharacters === 0);
  const answering = useAction(async (answer: ApprovalAnswer) => {
    const { answered } = await clients.policy.answerApprovals({
      approvals: chosen.map(({ approvalId, argumentsHash }) => ({ approvalId, argumentsHash })),
      answer,
      idempotencyKey: idempotencyKey.current,
    });
    idempotencyKey.current = crypto.randomUUID();
    for (const { approvalId, approval } of answered) if (approval !== undefined) lists.forgetApproval(approvalId);
    const refused = answered.find(({ approval }) => approval === undefined);
    if (refused !== undefined) throw new Error(refused.refusedMessage);
  });
  const isReady = chosen.length > 0 && !answering.isBusy;
  return (
    <section className={styles.alike} aria-label="Like questions">
      <h3>{approvals.length} like questions, answered together</h3>
      <TroubleNote trouble={whole.trouble ?? answering.trouble} onAgain={whole.trouble === undefined ? undefined : whole.again} />
      {whole.value === undefined ? <Skeleton rows={2} /> : null}
      {shown.map(({ approvalId, sessionId, requestedBy, rendering }) => (
        <div key={approvalId}>
          <label>
            <input
              type="checkbox"
              checked={!left.has(approvalId)}
              onChange={(event) => setLeft((before) => toggled(before, approvalId, !event.target.checked))}
            />
            {personName(requestedBy)} in {title(sessionId) || sessionId.slice(0, 8)}
          </label>
          {rendering === undefined ? null : <RenderedLines lines={rendering.lines} />}
        </div>
      ))}
      <div className={styles.together}>
        <Button disabled={!isReady} onClick={() => answering.run(ApprovalAnswer.ONCE)}>
          Approve {chosen.length} once
        </Button>
        <Button disabled={!isReady} onClick={() => answering.run(ApprovalAnswer.DENY)}>
          Deny {chosen.length}
        </Button>
        <span className={parts.advice}>What is unticked stays in the queue</span>
      </div>
    </section>
  );
}

function toggled(set: ReadonlySet<string>, one: string, isIn: boolean): ReadonlySet<string> {
  const changed = new Set(set);
  if (isIn) changed.add(one);
  else changed.delete(one);
  return changed;
}
