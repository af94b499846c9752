import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ApprovalKind,
  ApprovalRenderingSchema,
  ApprovalSchema,
  PermissionSettingsSchema,
  RenderedSpan_Kind,
  type Approval,
  type ApprovalRendering,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { PermissionSettings } from "../domain/decide/decision.ts";
import type { Approval as DomainApproval } from "../domain/approval/approval.ts";
import type { ApprovalRendering as DomainRendering, SpanKind } from "../domain/approval/approval-rendering.ts";
import { levels, modes, states } from "./words.ts";

const KINDS: Readonly<Record<SpanKind, RenderedSpan_Kind>> = {
  plain: RenderedSpan_Kind.PLAIN,
  label: RenderedSpan_Kind.LABEL,
  escaped: RenderedSpan_Kind.ESCAPED,
  marked: RenderedSpan_Kind.MARKED,
};

const APPROVAL_KINDS = { action: ApprovalKind.UNSPECIFIED, plan: ApprovalKind.PLAN, question: ApprovalKind.QUESTION };

export function encodeApproval(approval: DomainApproval, rendering?: DomainRendering): Approval {
  const { settings, safetyLevel, state, requestedAt, expiresAt, answeredAt } = approval;
  return create(ApprovalSchema, {
    approvalId: approval.approvalId,
    sessionId: approval.sessionId,
    runId: approval.runId,
    callId: approval.callId,
    tool: approval.tool,
    argumentsJson: approval.argumentsJson,
    argumentsHash: approval.argumentsHash,
    safetyLevel: levels[safetyLevel],
    reason: approval.reason,
    state: states[state],
    requestedAt: timestampFromDate(requestedAt),
    expiresAt: timestampFromDate(expiresAt),
    requestedBy: approval.requestedBy,
    answeredBy: approval.answeredBy,
    answeredAt: answeredAt === undefined ? undefined : timestampFromDate(answeredAt),
    kind: APPROVAL_KINDS[approval.kind],
    settings: settings === undefined ? undefined : encodeSettings(settings),
    answerText: approval.answerText,
    rendering: rendering === undefined ? undefined : encodeRendering(rendering),
  });
}

function encodeSettings({ mode, allowedTools, disallowedTools, canAsk }: PermissionSettings): NonNullable<Approval["settings"]> {
  return create(PermissionSettingsSchema, {
    mode: modes[mode],
    allowedTools: [...allowedTools],
    disallowedTools: [...disallowedTools],
    canAsk,
  });
}

function encodeRendering({ lines, omittedCharacters }: DomainRendering): ApprovalRendering {
  return create(ApprovalRenderingSchema, {
    lines: lines.map((spans) => ({ spans: spans.map(({ text, kind }) => ({ text, kind: KINDS[kind] })) })),
    omittedCharacters,
  });
}
