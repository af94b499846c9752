import { useState } from "react";
import { Link } from "wouter";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { FactScope, FactScopeSchema, type Fact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { MemoryStatsService, RecallKindSchema, type RecallEntry } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { useAction, useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { factState } from "./fact-rows.tsx";
import { RecallCandidates } from "./recall-candidates.tsx";
import styles from "./recall.module.css";

interface OpenedRecallProps {
  readonly recallId: bigint;
  readonly onAddress: (changes: Readonly<Record<string, string>>) => void;
  readonly onClose: () => void;
}

/** What a recall showed, what of it the answer used, and what did not belong there. */
export function OpenedRecall({ recallId, onAddress, onClose }: OpenedRecallProps) {
  const client = useClient(MemoryStatsService);
  const { value, trouble, again } = useCall("recall", (signal) => client.getRecall({ recallId }, { signal }));
  const [isExplained, setIsExplained] = useState(false);
  const mark = useAction(async (factId: string, wrong: boolean) => {
    await client.markRecall({ recallId, factId, wrong });
    again();
  });
  if (value === undefined) return trouble === undefined ? <Skeleton rows={8} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  const recall = value.recall!;
  const facts = new Map(value.facts.map((fact) => [fact.factId, fact]));
  const open = (fact: Fact): void =>
    onAddress({ fact: fact.factId, ...(fact.scope === FactScope.PROJECT ? { project: fact.project } : {}) });
  return (
    <section className={styles.opened} aria-label="Recall">
      <header>
        <Button onClick={onClose}>All recalls</Button>
        <h2>{shownProse(recall.query || "No words")}</h2>
        <small>
          Asked by {enumWord(RecallKindSchema, recall.kind)} · <RelativeTime at={recall.at} />
          {recall.sessionId === "" ? null : (
            <>
              {" "}
              · <Link href={`/s/${recall.sessionId}`}>its session</Link>
            </>
          )}{" "}
          · <code>hlvm memory recalls show {String(recallId)}</code>
        </small>
      </header>
      <TroubleNote trouble={trouble ?? mark.trouble} onAgain={trouble === undefined ? undefined : again} />
      <h3>{recall.shownFactIds.length === 0 ? "It showed nothing" : "What it showed"}</h3>
      <ul aria-label="Facts shown">
        {recall.shownFactIds.map((id) => (
          <ShownFact
            key={id}
            id={id}
            fact={facts.get(id)}
            recall={recall}
            isBusy={mark.isBusy}
            onOpen={open}
            onMark={(wrong) => mark.run(id, wrong)}
          />
        ))}
      </ul>
      {recall.query === "" ? null : isExplained ? (
        <RecallCandidates recall={recall} onOpen={open} />
      ) : (
        <p className={styles.note}>
          <Button onClick={() => setIsExplained(true)}>Explain now</Button>
        </p>
      )}
    </section>
  );
}

interface ShownFactProps {
  readonly id: string;
  /** As it is now. */
  readonly fact: Fact | undefined;
  readonly recall: RecallEntry;
  readonly isBusy: boolean;
  readonly onOpen: (fact: Fact) => void;
  readonly onMark: (wrong: boolean) => void;
}

function ShownFact({ id, fact, recall: { hasAnswer, usedFactIds, wrongFactIds }, isBusy, onOpen, onMark }: ShownFactProps) {
  const isWrong = wrongFactIds.includes(id);
  const use = !hasAnswer ? "not known whether used" : usedFactIds.includes(id) ? "used in the answer" : "not in the answer";
  return (
    <li className={styles.shown} data-wrong={isWrong}>
      <div>
        {fact === undefined ? (
          <span className={styles.gone}>A fact that is gone, or that you may see no more: {id.slice(0, 8)}</span>
        ) : (
          <button type="button" className={styles.fact} onClick={() => onOpen(fact)}>
            {shownProse(fact.text)}
          </button>
        )}
        <small>
          {use}
          {fact === undefined ? "" : ` · ${enumWord(FactScopeSchema, fact.scope)} · ${factState(fact)}`}
          {isWrong ? " · marked as wrong" : ""}
        </small>
      </div>
      <Button disabled={isBusy} onClick={() => onMark(!isWrong)}>
        {isWrong ? "It belonged there" : "This was wrong"}
      </Button>
    </li>
  );
}
