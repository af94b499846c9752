import { ansiLines, type AnsiStyle } from "@hlvm/ansi/ansi-lines";
import { Fragment, memo, useMemo } from "react";
import styles from "./command-output.module.css";
import { shownCode } from "./shown-text.ts";

/** What a command printed, in its colours; what cannot be seen in it is shown as what it is. */
export const CommandOutput = memo(function CommandOutput({ text }: { readonly text: string }) {
  const lines = useMemo(() => ansiLines(text), [text]);
  return lines.map((spans, at) => (
    <Fragment key={at}>
      {at === 0 ? "" : "\n"}
      {spans.map(({ text: piece, style }, index) => {
        const classes = classesOf(style);
        const shown = shownCode(piece);
        return classes === "" ? (
          shown
        ) : (
          <span key={index} className={classes}>
            {shown}
          </span>
        );
      })}
    </Fragment>
  ));
});

/** The bright eight are drawn as the others: both have to be read on both themes. */
function classesOf({ foreground, background, isBold, isDim, isItalic, isUnderlined, isInverse }: AnsiStyle): string {
  const names = [
    foreground === undefined ? "" : `foreground${foreground % 8}`,
    background === undefined || background % 8 === 0 ? "" : `background${background % 8}`,
    isBold ? "bold" : "",
    isDim ? "dim" : "",
    isItalic ? "italic" : "",
    isUnderlined ? "underlined" : "",
    isInverse ? "inverse" : "",
  ];
  return names.flatMap((name) => styles[name] ?? []).join(" ");
}
