import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";

const BY_ERROR_CODE: Readonly<Record<string, OutcomeStatus>> = {
  timeout: OutcomeStatus.TIMED_OUT,
  cancelled: OutcomeStatus.CANCELLED,
  outcome_unknown: OutcomeStatus.UNKNOWN,
};

/** What a result, as it stands in the log or in a receipt, is in the audit log. */
export function outcomeStatusOf(result: Pick<ToolResult, "success" | "errorCode">): OutcomeStatus {
  return result.success ? OutcomeStatus.SUCCEEDED : (BY_ERROR_CODE[result.errorCode] ?? OutcomeStatus.FAILED);
}
