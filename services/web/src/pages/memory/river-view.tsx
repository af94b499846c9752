import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { useClient } from "../../api/use-client.ts";
import { Empty } from "../../parts/empty.tsx";
import { changeRow } from "./fact-rows.tsx";
import type { MemoryViewProps } from "./memory-page.tsx";
import { filterOf, flagsOf } from "./memory-question.ts";
import { PagedView } from "./paged-view.tsx";
import { usePages } from "./use-pages.ts";

const PAGE = 100;

/** All that was learnt, replaced, pinned, ended and undone, by day. */
export function RiverView({ question, project, version, opened, onOpen }: MemoryViewProps) {
  const memory = useClient(MemoryService);
  const pages = usePages(`${flagsOf(question)}\n${project}\n${version}`, async (pageToken, signal) => {
    const { changes, nextPageToken } = await memory.listFactChanges(
      { filter: filterOf(question, project), limit: PAGE, pageToken },
      { signal },
    );
    return { items: changes, next: nextPageToken };
  });
  return (
    <PagedView
      label="What was learnt"
      pages={pages}
      row={(change) => changeRow(change, { opened, onOpen })}
      empty={
        <Empty
          title={flagsOf(question) === "" ? "Nothing was learnt yet" : "No change fits"}
          command={`hlvm memory changes${flagsOf(question)}`}
        >
          <p>What people and runs write down is kept here with all that becomes of it.</p>
        </Empty>
      }
    />
  );
}
