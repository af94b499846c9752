import { enumWord } from "@hlvm/ndjson/enum-word";
import { TrustSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { useCall } from "../../api/use-call.ts";
import parts from "../../parts/parts.module.css";
import { shownCode } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { usePage } from "../../store/page-context.ts";
import styles from "./session.module.css";

/** What the model would have before it if it were asked now, from where, and how far each can be trusted. */
export function ContextPanel({ sessionId, version }: { readonly sessionId: string; readonly version: number }) {
  const { clients } = usePage();
  const { value, trouble, again } = useCall(`${sessionId} ${version}`, (signal) => clients.sessions.getContext({ sessionId }, { signal }));
  if (trouble !== undefined) return <TroubleNote trouble={trouble} onAgain={again} />;
  if (value === undefined) return <Skeleton rows={6} />;
  const { tokens, contextWindow, compactionThreshold, fragments, dropped } = value;
  return (
    <>
      <div className={styles.note}>
        <p>
          {tokens.toLocaleString()} of {contextWindow.toLocaleString()} tokens; shortened from {compactionThreshold.toLocaleString()} on
        </p>
        <progress className={styles.meter} value={tokens} max={contextWindow} aria-label="How full the window is" />
      </div>
      <ul>
        {fragments.map(({ source, tokens: own, trust, preview }, at) => (
          <li key={at} className={styles.fragment}>
            <strong>{source}</strong>
            <span>
              {own.toLocaleString()} <span className={parts.plain}>· {enumWord(TrustSchema, trust).replaceAll("_", " ")}</span>
            </span>
            <p>{shownCode(preview)}</p>
          </li>
        ))}
      </ul>
      {dropped.map(({ source, why }, at) => (
        <p key={at} className={styles.note}>
          Left out: {source} · {why}
        </p>
      ))}
    </>
  );
}
