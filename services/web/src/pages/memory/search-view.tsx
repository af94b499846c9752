import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { useDeferredValue } from "react";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../parts/empty.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { factRow } from "./fact-rows.tsx";
import { MemoryList } from "./memory-list.tsx";
import type { MemoryViewProps } from "./memory-page.tsx";
import styles from "./memory.module.css";

const FOUND = 50;

/** Facts by words, the nearest first. */
export function SearchView({ query, project, version, opened, onOpen }: MemoryViewProps) {
  const memory = useClient(MemoryService);
  const words = useDeferredValue(query.trim());
  const found = useCall(`${project}\n${words}\n${version}`, async (signal) =>
    words === "" ? undefined : await memory.searchFacts({ query: words, limit: FOUND, project }, { signal }),
  );
  const facts = found.value?.facts.flatMap(({ fact }) => fact ?? []);
  return (
    <div className={styles.view} aria-busy={found.isLoading}>
      {found.trouble === undefined ? null : (
        <div className={styles.note}>
          <TroubleNote trouble={found.trouble} onAgain={found.again} />
        </div>
      )}
      {found.value !== undefined && found.value.notice !== "" ? <p className={styles.note}>{found.value.notice}</p> : null}
      {words === "" ? (
        <Empty title="Search for what was learnt" command='hlvm memory search "words"'>
          <p>Facts outlive their session. They are found by words; what you write down above is yours alone.</p>
        </Empty>
      ) : facts === undefined ? null : facts.length === 0 ? (
        <Empty title="Nothing is remembered about that" command='hlvm memory write "…"'>
          <p>Write it down above.</p>
        </Empty>
      ) : (
        <MemoryList
          label="Facts that were found"
          isRanked
          rows={facts.map((fact) => factRow(fact, { opened, onOpen }))}
          hasOlder={false}
          onOlder={() => undefined}
        />
      )}
    </div>
  );
}
