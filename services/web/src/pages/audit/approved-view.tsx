import { enumWord } from "@hlvm/ndjson/enum-word";
import { AuditService, type ApprovedCall } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStepSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ShieldCheck, Users } from "lucide-react";
import { useEffect } from "react";
import { Link } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../parts/empty.tsx";
import { shownCode } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import table from "../../parts/table.module.css";
import { tellingText } from "../../parts/telling-text.ts";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { countWord, personName } from "../../parts/words.ts";
import { AUDIT_FIELDS, lineOf } from "./audit-question.ts";
import { approvedRequestOf } from "./audit-request.ts";
import type { AuditViewProps } from "./calls-view.tsx";
import { EventTime, OutcomeMark } from "./event-marks.tsx";
import styles from "./audit.module.css";

const SHOWN = 200;
/** By which calls that were let through can be narrowed. */
const READ: ReadonlySet<string> = new Set(["tool", "principal", "approver", "session", "call", "path", "text", "since", "until"]);

/** Calls that were let through, each with the person who answered, or with what let it through where nobody was asked. */
export function ApprovedView({ question, onQuestion, onFound }: AuditViewProps) {
  const audit = useClient(AuditService);
  const { value, trouble, again } = useCall(lineOf(question), (signal) =>
    audit.whoApproved({ ...approvedRequestOf(question), limit: SHOWN }, { signal }),
  );
  const found = value === undefined ? "" : `${value.nextBeforeId === 0n ? "" : "the newest "}${countWord(value.calls.length, "call")}`;
  useEffect(() => onFound(found), [found, onFound]);
  const unread = AUDIT_FIELDS.filter((name) => question[name] !== undefined && !READ.has(name));
  if (trouble !== undefined)
    return (
      <div className={styles.alone}>
        <TroubleNote trouble={trouble} onAgain={again} />
      </div>
    );
  return (
    <>
      {unread.length === 0 ? null : <p className={styles.alone}>Not read here: {unread.join(", ")}.</p>}
      {value === undefined ? (
        <Skeleton rows={8} />
      ) : value.calls.length === 0 ? (
        <Empty title="Nothing that was let through fits" command="hlvm audit who-approved --since 7d" />
      ) : (
        <div className={table.scrolls} tabIndex={0} role="region" aria-label="Calls that were let through">
          <table className={`${table.table} ${styles.events}`}>
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Who asked</th>
                <th scope="col">Let through by</th>
                <th scope="col">Outcome</th>
                <th scope="col">What</th>
                <th scope="col">Session</th>
              </tr>
            </thead>
            <tbody>
              {value.calls.map((one) => (
                <Row key={String(one.call!.id)} one={one} onApprover={(approver) => onQuestion({ ...question, approver })} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Row({ one: { call, answer }, onApprover }: { readonly one: ApprovedCall; readonly onApprover: (approver: string) => void }) {
  const { at, principal, tool, argumentsJson, sessionId, step, rule } = call!;
  return (
    <tr>
      <td className={table.nowrap}>
        <EventTime at={at} />
      </td>
      <td className={table.nowrap}>{personName(principal)}</td>
      <td className={table.nowrap}>
        {answer === undefined ? (
          <StateMark tone="plain" icon={ShieldCheck}>{`${enumWord(DecidingStepSchema, step).replaceAll("_", " ")}: ${rule}`}</StateMark>
        ) : (
          <button type="button" data-row className={styles.approver} onClick={() => onApprover(answer.principal)}>
            <StateMark tone="ok" icon={Users}>
              {`${personName(answer.principal)}, ${answer.rule.replace("answer: ", "")}`}
            </StateMark>
          </button>
        )}
      </td>
      <td className={table.nowrap}>
        <OutcomeMark event={call!} />
      </td>
      <td className={styles.target}>
        <strong>{tool}</strong> <code>{shownCode(tellingText(argumentsJson))}</code>
      </td>
      <td>
        <Link href={`/s/${sessionId}`}>{sessionId.slice(0, 8)}</Link>
      </td>
    </tr>
  );
}
