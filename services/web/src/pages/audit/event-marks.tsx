import { timestampDate } from "@bufbuild/protobuf/wkt";
import { isPending } from "@hlvm/ndjson/is-pending";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { AuditKind, OutcomeStatus, OutcomeStatusSchema, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, DecidingStepSchema, Decision, DecisionSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Ban, Check, CircleHelp, Hourglass, Minus, X, type LucideIcon } from "lucide-react";
import { StateMark, type Tone } from "../../parts/state-mark.tsx";
import table from "../../parts/table.module.css";
import styles from "./audit.module.css";

const DECISIONS: Readonly<Record<number, readonly [Tone, LucideIcon]>> = {
  [Decision.ALLOW]: ["plain", Check],
  [Decision.ASK]: ["warn", Hourglass],
  [Decision.DENY]: ["danger", Ban],
};
const OUTCOMES: Readonly<Record<number, readonly [Tone, LucideIcon]>> = {
  [OutcomeStatus.SUCCEEDED]: ["plain", Check],
  [OutcomeStatus.UNKNOWN]: ["doubt", CircleHelp],
  [OutcomeStatus.CANCELLED]: ["plain", Minus],
};

const TIME = new Intl.DateTimeFormat("en", {
  day: "2-digit",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});

export function EventTime({ at }: { readonly at: AuditEvent["at"] }) {
  if (at === undefined) return null;
  const date = timestampDate(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {TIME.format(date)}
    </time>
  );
}

export function DecisionMark({ event: { decision, step } }: { readonly event: AuditEvent }) {
  if (decision === Decision.UNSPECIFIED) return null;
  const [tone, icon] = DECISIONS[decision] ?? ["plain", Minus];
  return (
    <span className={styles.decision}>
      <StateMark tone={tone} icon={icon}>
        {enumWord(DecisionSchema, decision)}
      </StateMark>
      <span className={table.quiet}>
        {step === DecidingStep.UNSPECIFIED ? "" : enumWord(DecidingStepSchema, step).replaceAll("_", " ")}
      </span>
    </span>
  );
}

export function OutcomeMark({ event }: { readonly event: AuditEvent }) {
  const { kind, outcome, decision } = event;
  if (isPending(event)) return <span className={table.quiet}>no end yet</span>;
  if (outcome === OutcomeStatus.UNSPECIFIED)
    return kind === AuditKind.INTENT && decision === Decision.DENY ? <span className={table.quiet}>not run</span> : null;
  const [tone, icon] = OUTCOMES[outcome] ?? ["danger", X];
  return (
    <StateMark tone={tone} icon={icon}>
      {enumWord(OutcomeStatusSchema, outcome).replaceAll("_", " ")}
    </StateMark>
  );
}
