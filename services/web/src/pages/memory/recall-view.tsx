import { useDeferredValue } from "react";
import { useSearchParams } from "wouter";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { MemoryStatsService, RecallKind, RecallKindSchema, type RecallEntry } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { secondsWord } from "../../parts/words.ts";
import type { MemoryViewProps } from "./memory-page.tsx";
import { addressWith } from "./memory-question.ts";
import { OpenedRecall } from "./opened-recall.tsx";
import { usePages } from "./use-pages.ts";
import styles from "./recall.module.css";

const PAGE = 50;
const KINDS = [
  ["", "by anybody"],
  ["run", "by runs, at their start"],
  ["tool", "by runs, with memory_search"],
  ["search", "by you, with a search"],
] as const;

/** What was asked of memory in one's name, the latest first; one of them with what it showed. */
export function RecallView({ query }: MemoryViewProps) {
  const [search, setSearch] = useSearchParams();
  const set = (changes: Readonly<Record<string, string>>): void => setSearch((before) => addressWith(changes, before));
  const [recall, kind] = ["recall", "kind"].map((name) => search.get(name) ?? "");
  if (/^\d{1,18}$/.test(recall!))
    return <OpenedRecall key={recall} recallId={BigInt(recall!)} onAddress={set} onClose={() => set({ recall: "" })} />;
  return (
    <div className={styles.recalls}>
      <select
        className={`${table.input} ${styles.kind}`}
        aria-label="Asked by"
        value={kind}
        onChange={(event) => set({ kind: event.target.value })}
      >
        {KINDS.map(([word, name]) => (
          <option key={word} value={word}>
            {name}
          </option>
        ))}
      </select>
      <Recalls query={query} kind={kind!} onOpen={(id) => set({ recall: String(id) })} />
    </div>
  );
}

interface RecallsProps {
  readonly query: string;
  readonly kind: string;
  readonly onOpen: (recallId: bigint) => void;
}

function Recalls({ query, kind, onOpen }: RecallsProps) {
  const client = useClient(MemoryStatsService);
  const text = useDeferredValue(query.trim()).slice(0, 300);
  const { items, hasOlder, trouble, older, again } = usePages(`recalls ${kind} ${text}`, async (beforeId, signal) => {
    const asked = { limit: PAGE, kind: RecallKind[kind.toUpperCase() as keyof typeof RecallKind], text, beforeId: BigInt(beforeId) };
    const { recalls } = await client.listRecalls(asked, { signal });
    return { items: recalls, next: recalls.length < PAGE ? "" : String(recalls.at(-1)!.recallId) };
  });
  if (items === undefined) return trouble === undefined ? <Skeleton rows={8} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  return (
    <>
      <TroubleNote trouble={trouble} onAgain={again} />
      {items.length > 0 ? null : kind + text === "" ? (
        <Empty title="Memory was not asked" command="hlvm memory recalls">
          <p>Here stands what your runs and you ask, what they were shown, and whether that was of use.</p>
        </Empty>
      ) : (
        <p className={styles.note}>Nothing like that was asked.</p>
      )}
      <ul aria-label="Recalls">
        {items.map((recall) => (
          <li key={String(recall.recallId)}>
            <button type="button" className={styles.recall} onClick={() => onOpen(recall.recallId)}>
              <strong>{shownProse(recall.query || "No words")}</strong>
              <small>
                {enumWord(RecallKindSchema, recall.kind)} · {countsOf(recall)} · {secondsWord(Math.round(recall.milliseconds))} ·{" "}
                <RelativeTime at={recall.at} />
              </small>
            </button>
          </li>
        ))}
      </ul>
      {hasOlder ? (
        <p className={styles.note}>
          <Button onClick={older}>Older</Button>
        </p>
      ) : null}
    </>
  );
}

function countsOf({ shownFactIds, usedFactIds, wrongFactIds, hasAnswer }: RecallEntry): string {
  if (shownFactIds.length === 0) return "nothing shown";
  const used = hasAnswer ? `, ${usedFactIds.length} used` : "";
  return `${shownFactIds.length} shown${used}${wrongFactIds.length === 0 ? "" : `, ${wrongFactIds.length} wrong`}`;
}
