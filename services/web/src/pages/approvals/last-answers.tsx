import { DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import styles from "./approvals.module.css";

const SHOWN = 10;

/** What was answered last, as the audit log has it; nothing for whoever may not read that. */
export function LastAnswers({ version }: { readonly version: number }) {
  const audit = useClient(AuditService);
  const { value } = useCall(String(version), (signal) => audit.query({ step: DecidingStep.APPROVAL, limit: SHOWN }, { signal }));
  if (value === undefined || value.events.length === 0) return null;
  return (
    <>
      <div className={styles.group}>
        <h2>Last answers</h2>
      </div>
      <ul>
        {value.events.map(({ id, tool, decision, rule, at }) => (
          <li key={String(id)} className={styles.answered}>
            <StateMark tone={decision === Decision.ALLOW ? "ok" : "danger"}>
              {decision === Decision.ALLOW ? "approved" : "denied"}
            </StateMark>
            <span>{tool}</span>
            <span title={rule}>{rule.replace(/^approval: /, "").replace("user:", "")}</span>
            <span className={styles.times}>
              <RelativeTime at={at} isShort />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
