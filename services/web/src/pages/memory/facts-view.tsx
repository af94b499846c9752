import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { useClient } from "../../api/use-client.ts";
import { Empty } from "../../parts/empty.tsx";
import { factRow } from "./fact-rows.tsx";
import type { MemoryViewProps } from "./memory-page.tsx";
import { filterOf, flagsOf } from "./memory-question.ts";
import { PagedView } from "./paged-view.tsx";
import { usePages } from "./use-pages.ts";

const PAGE = 100;

/** What is remembered, the one that was written last first. */
export function FactsView({ question, withEnded, project, version, opened, onOpen }: MemoryViewProps) {
  const memory = useClient(MemoryService);
  const pages = usePages(`${flagsOf(question)}\n${project}\n${withEnded}\n${version}`, async (pageToken, signal) => {
    const { facts, nextPageToken } = await memory.listFacts(
      { filter: filterOf(question, project), withEnded, limit: PAGE, pageToken },
      { signal },
    );
    return { items: facts, next: nextPageToken };
  });
  return (
    <PagedView
      label="Facts"
      pages={pages}
      row={(fact) => factRow(fact, { opened, onOpen })}
      empty={
        flagsOf(question) === "" ? (
          <Empty title="Nothing is remembered yet" command='hlvm memory write "…"'>
            <p>Facts outlive their session: what you state, and what runs learn. Write one down above.</p>
          </Empty>
        ) : (
          <Empty title="No fact fits" command={`hlvm memory list${flagsOf(question)}`} />
        )
      }
    />
  );
}
