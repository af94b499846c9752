import { create } from "@bufbuild/protobuf";
import { ApprovalRenderingSchema, RenderedSpan_Kind, type ApprovalRendering } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { ApprovalRendering as DomainRendering, SpanKind } from "../domain/approval/approval-rendering.ts";

const KINDS: Readonly<Record<SpanKind, RenderedSpan_Kind>> = {
  plain: RenderedSpan_Kind.PLAIN,
  label: RenderedSpan_Kind.LABEL,
  escaped: RenderedSpan_Kind.ESCAPED,
  marked: RenderedSpan_Kind.MARKED,
};

export function encodeRendering({ lines, omittedCharacters }: DomainRendering): ApprovalRendering {
  return create(ApprovalRenderingSchema, {
    lines: lines.map((spans) => ({ spans: spans.map(({ text, kind }) => ({ text, kind: KINDS[kind] })) })),
    omittedCharacters,
  });
}
