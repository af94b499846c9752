import { timestampDate } from "@bufbuild/protobuf/wkt";
import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { AuditKind, AuditService, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, PermissionMode, TrustTier, TrustTierSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Copy } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import { Link } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { VisibleLines } from "../../parts/code-lines.tsx";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import { levelWord, personName, secondsWord } from "../../parts/words.ts";
import type { AuditQuestion } from "./audit-question.ts";
import { DecisionMark, OutcomeMark } from "./event-marks.tsx";
import styles from "./audit.module.css";

interface OpenedEventProps {
  readonly event: AuditEvent;
  readonly onQuestion: (question: AuditQuestion, view?: string) => void;
}

/** What was asked for, who or what decided, and what came of it, side by side; below them the arguments as they are recorded. */
export function OpenedEvent({ event, onQuestion }: OpenedEventProps) {
  const { tool, argumentsJson, argumentsHash, sessionId, runId, callId, mode, safetyLevel, trustTier, rule, reason } = event;
  const answer = useAnswer(event);
  return (
    <div className={styles.opened}>
      <div className={styles.columns}>
        <Column
          title="Intent"
          at={event.at}
          pairs={{
            Event: `${event.id}`,
            Who: personName(event.principal),
            Tool: tool,
            Level: levelWord(safetyLevel),
            Mode: mode === PermissionMode.UNSPECIFIED ? "" : permissionModeWord(mode),
            Trust: trustTier === TrustTier.UNSPECIFIED ? "" : enumWord(TrustTierSchema, trustTier).replaceAll("_", " "),
            Run: runId.slice(0, 8),
            Call: callId,
            Asked: event.query,
          }}
        />
        <Column
          title={answer === undefined ? "Decision" : "Approval"}
          at={answer?.at ?? event.at}
          pairs={{
            Answer: <DecisionMark event={event} />,
            By: answer === undefined ? "" : personName(answer.principal),
            As: answer?.rule.replace("answer: ", "") ?? "",
            Rule: rule,
            Because: reason,
            Said: answer === undefined || answer.reason === reason ? "" : answer.reason,
          }}
        />
        <Column
          title="Outcome"
          pairs={{
            Result: <OutcomeMark event={event} />,
            Summary: event.outcomeSummary,
            Took: event.durationMilliseconds === 0 ? "" : secondsWord(event.durationMilliseconds),
            Trace: event.traceId,
          }}
        />
      </div>
      {argumentsJson === "" ? null : (
        <>
          <div className={styles.jsonHead}>
            <h3>Canonical JSON</h3>
            <span>{new TextEncoder().encode(argumentsJson).length.toLocaleString()} bytes</span>
            <span title={argumentsHash}>SHA-256 {argumentsHash.slice(0, 16)}…</span>
            <Button look="bare" onClick={() => void navigator.clipboard.writeText(argumentsJson)}>
              <Icon of={Copy} size={14} /> Copy
            </Button>
          </div>
          <VisibleLines text={argumentsJson} />
        </>
      )}
      <div className={styles.pivots}>
        {sessionId === "" ? null : (
          <>
            <Link href={`/s/${sessionId}`} className={parts.button}>
              Open the session
            </Link>
            <Button onClick={() => onQuestion({ session: sessionId }, "timeline")}>Its timeline</Button>
            <Button onClick={() => onQuestion({ session: sessionId, call: callId }, "approved")}>Who let it through</Button>
          </>
        )}
        {tool === "" ? null : <Button onClick={() => onQuestion({ tool, since: "30d" })}>All of {tool}</Button>}
      </div>
    </div>
  );
}

/** The person's answer to this very call, where there was one. */
function useAnswer({ kind, step, sessionId, callId }: AuditEvent): AuditEvent | undefined {
  const audit = useClient(AuditService);
  const isAnswered = kind === AuditKind.INTENT && step === DecidingStep.APPROVAL && callId !== "";
  const { value } = useCall(`${sessionId} ${callId} ${isAnswered}`, async (signal) => {
    if (!isAnswered) return undefined;
    const { events } = await audit.query({ kind: AuditKind.APPROVAL_ANSWERED, sessionId, callId, limit: 1 }, { signal });
    return events[0];
  });
  return value;
}

interface ColumnProps {
  readonly title: string;
  readonly at?: AuditEvent["at"];
  /** Those without a value are left out. */
  readonly pairs: Readonly<Record<string, ReactNode>>;
}

function Column({ title, at, pairs }: ColumnProps) {
  return (
    <section>
      <h3>
        {title}
        {at === undefined ? null : (
          <time dateTime={timestampDate(at).toISOString()}>{timestampDate(at).toISOString().slice(11, 23)} UTC</time>
        )}
      </h3>
      <dl className={parts.pairs}>
        {Object.entries(pairs)
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ))}
      </dl>
    </section>
  );
}
