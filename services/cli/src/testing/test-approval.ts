import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState, RenderedSpan_Kind, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { visibleText } from "@hlvm/visible-text/visible-text";

type Span = { text: string; kind: RenderedSpan_Kind };

/** An approval of texts as policy sends it; what is `marked` is so wherever it stands. */
export function approvalOf(tool: string, given: Readonly<Record<string, string>>, marked = ""): Approval {
  return create(ApprovalSchema, approvalInit(tool, given, marked));
}

export function approvalInit(tool: string, given: Readonly<Record<string, string>>, marked = ""): MessageInitShape<typeof ApprovalSchema> {
  return {
    approvalId: "1f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e",
    tool,
    argumentsJson: JSON.stringify(given),
    argumentsHash: "ab".repeat(32),
    safetyLevel: SafetyLevel.L2,
    reason: "mode default asks for L2",
    requestedBy: "user:ada",
    state: ApprovalState.PENDING,
    rendering: { lines: Object.entries(given).flatMap(([name, text]) => argumentLines(name, text, marked)) },
  };
}

function argumentLines(name: string, text: string, marked: string): { spans: Span[] }[] {
  const label = { text: `${name}:`, kind: RenderedSpan_Kind.LABEL };
  return visibleText(text).map((line, index) => {
    const spans = line.flatMap((piece) =>
      piece.isEscaped ? [{ text: piece.text, kind: RenderedSpan_Kind.ESCAPED }] : plainSpans(piece.text, marked),
    );
    return { spans: index === 0 ? [label, ...spans] : spans };
  });
}

function plainSpans(text: string, marked: string): Span[] {
  const pieces = marked === "" ? [text] : text.split(marked).flatMap((piece, index) => (index === 0 ? [piece] : [marked, piece]));
  return pieces
    .filter((piece) => piece !== "")
    .map((piece) => ({ text: piece, kind: piece === marked ? RenderedSpan_Kind.MARKED : RenderedSpan_Kind.PLAIN }));
}
