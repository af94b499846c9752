import { timestampDate } from "@bufbuild/protobuf/wkt";
import { MemoryService, type FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { MemoryRecall } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { History, Radio } from "lucide-react";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import type { Trouble } from "../../api/clients.ts";
import { useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Empty } from "../../parts/empty.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { countWord, personName } from "../../parts/words.ts";
import { usePage } from "../../store/page-context.ts";
import { changeRow } from "./fact-rows.tsx";
import { MemoryList, type MemoryRow } from "./memory-list.tsx";
import type { MemoryViewProps } from "./memory-page.tsx";
import { filterOf, flagsOf } from "./memory-question.ts";
import styles from "./memory.module.css";

/** Those before are in the river. */
const SHOWN = 200;
const EARLIER = 30;

/** What memory does now: changes of facts, and what runs are reminded of, the newest on top; below them the last changes before. */
export function LiveView({ question, project, opened, onOpen }: MemoryViewProps) {
  const memory = useClient(MemoryService);
  const { watch } = usePage();
  const [, navigate] = useLocation();
  const [changes, setChanges] = useState<readonly FactChange[]>([]);
  const [recalls, setRecalls] = useState<readonly MemoryRecall[]>([]);
  const [ended, setEnded] = useState<Trouble | undefined>(undefined);
  const before = useCall(flagsOf(question) + project, (signal) =>
    memory.listFactChanges({ filter: filterOf(question, project), limit: EARLIER }, { signal }),
  );
  const start = before.value?.cursor;
  useEffect(() => {
    if (start === undefined) return undefined;
    let cursor = start;
    setEnded(undefined);
    return watch.subscribe("memory", {
      topic: () => ({ case: "memory", value: { filter: filterOf(question, project), cursor } }),
      onFrame: (frame) => {
        if (frame.case === "ended") setEnded({ message: frame.value.message, advice: "" });
        if (frame.case !== "memory") return;
        const { changes: fresh, recalls: recalled } = frame.value;
        cursor = frame.value.cursor || cursor;
        if (fresh.length > 0) setChanges((known) => merged(fresh, known, ({ changeId }) => changeId));
        if (recalled.length > 0) setRecalls((known) => merged(recalled, known, ({ sessionId, sequence }) => `${sessionId} ${sequence}`));
      },
    });
    // The view is made anew for another question.
  }, [watch, start]);
  const all = merged(changes, before.value?.changes.toReversed() ?? [], ({ changeId }) => changeId);
  const rows = [
    ...all.map((change) => changeRow(change, { opened, onOpen })),
    ...recalls.map((recall) => recallRow(recall, () => navigate(`/s/${recall.sessionId}`))),
  ].toSorted((one, other) => time(other) - time(one));
  const trouble = before.trouble ?? ended;
  return (
    <div className={styles.view}>
      <div className={styles.note}>
        {trouble === undefined ? (
          <StateMark tone="info" icon={Radio} isLive>
            Following what memory does
          </StateMark>
        ) : (
          <TroubleNote trouble={trouble} onAgain={before.again} />
        )}
      </div>
      {before.value === undefined ? (
        before.trouble === undefined ? (
          <Skeleton rows={8} />
        ) : null
      ) : rows.length === 0 ? (
        <Empty title="Nothing was learnt or recalled yet" command="hlvm memory changes --follow">
          <p>What people and runs write down appears here as it happens, and what runs are reminded of.</p>
        </Empty>
      ) : (
        <MemoryList label="What memory does" rows={rows} hasOlder={false} onOlder={() => undefined} />
      )}
    </div>
  );
}

function recallRow(
  { sessionId, sequence, sessionTitle, at, principal, recalled, withheld, notice }: MemoryRecall,
  onOpen: () => void,
): MemoryRow {
  const texts = recalled.length === 0 ? "" : recalled.map((text) => shownProse(text)).join("; ");
  return {
    key: `${sessionId} ${sequence}`,
    at,
    icon: History,
    what: "recalled",
    text: (
      <>
        {withheld > 0 ? `${countWord(withheld, "fact")}, for somebody else alone` : texts || shownProse(notice)}
        <em>{shownProse(sessionTitle)}</em>
      </>
    ),
    scope: "",
    origin: "",
    by: personName(principal),
    isChosen: false,
    onOpen,
  };
}

/** Each once, what came last first. */
function merged<Item>(fresh: readonly Item[], known: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  const byKey = new Map([...known, ...fresh].map((item) => [keyOf(item), item]));
  return [...byKey.values()].slice(-SHOWN);
}

function time({ at }: MemoryRow): number {
  return at === undefined ? 0 : timestampDate(at).getTime();
}
