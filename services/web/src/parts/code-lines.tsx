import { visibleText } from "@hlvm/visible-text/visible-text";
import type { RenderedLine } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RenderedSpan_Kind as Kind } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Fragment, type ReactNode, type Ref } from "react";
import parts from "./parts.module.css";

const CLASSES: Readonly<Record<number, string | undefined>> = {
  [Kind.LABEL]: parts.label,
  [Kind.ESCAPED]: parts.escaped,
  [Kind.MARKED]: parts.marked,
};

/** A call's arguments as policy made them for a person: whole, with nothing hidden in them, wrapped and never cut. */
export function RenderedLines({ lines, end }: { readonly lines: readonly RenderedLine[]; readonly end?: Ref<HTMLSpanElement> }) {
  return (
    <Lines end={end}>
      {lines.map(({ spans }) => spans.map(({ text, kind }, at) => <Span key={at} text={text} className={CLASSES[kind]} />))}
    </Lines>
  );
}

const CHANGES: Readonly<Record<string, string | undefined>> = { "+": parts.added, "-": parts.removed };

/** The hunks of a diff: the first span of a line says what becomes of it. */
export function ChangedLines({ lines }: { readonly lines: readonly RenderedLine[] }) {
  return (
    <Lines>
      {lines.map(({ spans }) => (
        <span key="line" className={CHANGES[spans[0]?.text ?? ""]}>
          {spans.map(({ text, kind }, at) => (
            <Span key={at} text={text} className={CLASSES[kind]} />
          ))}
        </span>
      ))}
    </Lines>
  );
}

/** Any text that somebody decides on: what cannot be seen is shown as what it is. */
export function VisibleLines({ text }: { readonly text: string }) {
  return (
    <Lines>
      {visibleText(text).map((pieces) =>
        pieces.map((piece, at) => <Span key={at} text={piece.text} className={piece.isEscaped ? parts.escaped : undefined} />),
      )}
    </Lines>
  );
}

function Span({ text, className }: { readonly text: string; readonly className: string | undefined }) {
  return className === undefined ? text : <span className={className}>{text}</span>;
}

/** Numbered, so that a line that is wrapped is not taken for two. */
function Lines({ children, end }: { readonly children: readonly ReactNode[]; readonly end?: Ref<HTMLSpanElement> }) {
  return (
    <div className={parts.code} dir="ltr">
      {children.map((line, at) => (
        <Fragment key={at}>
          <span className={parts.lineNumber} aria-hidden="true">
            {at + 1}
          </span>
          <span className={parts.line}>
            {line}
            {at === children.length - 1 ? <span ref={end} /> : null}
          </span>
        </Fragment>
      ))}
    </div>
  );
}
