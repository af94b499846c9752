import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ApprovalKind,
  ApprovalPreviewSchema,
  ApprovalRenderingSchema,
  ApprovalSchema,
  PermissionSettingsSchema,
  RenderedSpan_Kind,
  type Approval,
  type ApprovalPreview,
  type ApprovalRendering,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { PermissionSettings } from "../domain/decide/decision.ts";
import type { Approval as DomainApproval } from "../domain/approval/approval.ts";
import { previewHash } from "../domain/approval/attach-preview.ts";
import { renderPreview } from "../domain/approval/render-preview.ts";
import type { ApprovalRendering as DomainRendering, SpanKind } from "../domain/approval/approval-rendering.ts";
import { levels, modes, states } from "./words.ts";

const KINDS: Readonly<Record<SpanKind, RenderedSpan_Kind>> = {
  plain: RenderedSpan_Kind.PLAIN,
  label: RenderedSpan_Kind.LABEL,
  escaped: RenderedSpan_Kind.ESCAPED,
  marked: RenderedSpan_Kind.MARKED,
};

const APPROVAL_KINDS = { action: ApprovalKind.UNSPECIFIED, plan: ApprovalKind.PLAN, question: ApprovalKind.QUESTION };

/** Its preview comes with its lines where it comes with its rendering. */
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
    preview: approval.preview && encodePreview(approval, rendering !== undefined),
  });
}

/** All parts of a narrowed delegation as one, which gives no more than each of them: what is signed anew stays as narrow. */
function encodeSettings({ within, ...settings }: PermissionSettings): NonNullable<Approval["settings"]> {
  const { mode, allowedTools, disallowedTools, canAsk, onlyTools } = within === undefined ? settings : bothOf(settings, within);
  return create(PermissionSettingsSchema, {
    mode: modes[mode],
    allowedTools: [...allowedTools],
    disallowedTools: [...disallowedTools],
    canAsk,
    ...(onlyTools === undefined ? {} : { onlyTools: { tools: [...onlyTools] } }),
  });
}

function bothOf(inner: PermissionSettings, { within, ...outer }: PermissionSettings): PermissionSettings {
  const around = within === undefined ? outer : bothOf(outer, within);
  const common = (one: readonly string[], other: readonly string[]): string[] => one.filter((pattern) => other.includes(pattern));
  const onlyTools =
    inner.onlyTools === undefined || around.onlyTools === undefined
      ? (inner.onlyTools ?? around.onlyTools)
      : common(inner.onlyTools, around.onlyTools);
  return {
    mode: inner.mode,
    allowedTools: common(inner.allowedTools, around.allowedTools),
    disallowedTools: [...new Set([...inner.disallowedTools, ...around.disallowedTools])],
    canAsk: inner.canAsk && around.canAsk,
    ...(onlyTools === undefined ? {} : { onlyTools }),
  };
}

export function encodePreview(approval: DomainApproval, withLines: boolean): ApprovalPreview {
  const { presentSha256 = "", presentBytes = 0, diff = "" } = approval.preview ?? {};
  const { lines, omittedCharacters } = encodeRendering(renderPreview(withLines ? diff : ""));
  const file = { present: presentSha256 !== "", presentBytes: BigInt(presentBytes) };
  return create(ApprovalPreviewSchema, { hash: previewHash(approval), ...file, lines, omittedCharacters });
}

function encodeRendering({ lines, omittedCharacters }: DomainRendering): ApprovalRendering {
  return create(ApprovalRenderingSchema, {
    lines: lines.map((spans) => ({ spans: spans.map(({ text, kind }) => ({ text, kind: KINDS[kind] })) })),
    omittedCharacters,
  });
}
