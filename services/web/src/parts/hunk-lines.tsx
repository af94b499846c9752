import type { Hunk } from "./text-hunks.ts";
import styles from "./hunk-lines.module.css";

/** The lines of a diff, with their numbers before and after. */
export function HunkLines({ hunks }: { readonly hunks: readonly Hunk[] }) {
  return (
    <div className={styles.diff}>
      {hunks.map((hunk, at) => [
        <span key={at} className={styles.hunk}>
          {hunk.head}
        </span>,
        ...hunk.lines.map(({ before, after, sign, text, pieces }, line) => (
          <div key={`${at} ${line}`} className={`${styles.diffLine} ${sign === "+" ? styles.added : sign === "-" ? styles.removed : ""}`}>
            <span className={styles.number}>{before}</span>
            <span className={styles.number}>{after}</span>
            <span>{sign}</span>
            <span>
              {pieces === undefined ? text : pieces.map((piece, at) => (piece.isChanged ? <mark key={at}>{piece.text}</mark> : piece.text))}
            </span>
          </div>
        )),
      ])}
    </div>
  );
}
