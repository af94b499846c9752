import { FactScope, MemoryService, SearchSource } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { useDeferredValue, useState } from "react";
import { useSearchParams } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { folderName } from "../../parts/words.ts";
import { PageFrame } from "../../shell/page-frame.tsx";
import { useLists } from "../../store/list-store.ts";
import { usePage } from "../../store/page-context.ts";
import { FactRow } from "./fact-row.tsx";

const FOUND = 50;
const MOST_FOLDERS = 20;

/** What is remembered, found by words, and changed or ended. */
export function MemoryPage() {
  const memory = useClient(MemoryService);
  const [search, setSearch] = useSearchParams();
  const query = search.get("q") ?? "";
  const { sessions } = useLists(usePage().lists);
  const folders = [...new Set(sessions?.map(({ workspace }) => workspace))].filter((folder) => folder !== "").slice(0, MOST_FOLDERS);
  // What was learnt in a folder is found there alone; the one that was worked in last is the likeliest.
  const project = search.get("project") ?? folders[0] ?? "";
  const set = (name: string, value: string): void =>
    setSearch(
      (before) => {
        if (value === "" && name === "q") before.delete(name);
        else before.set(name, value);
        return before;
      },
      { replace: true },
    );
  const words = useDeferredValue(query.trim());
  const found = useCall(`${project}\n${words}`, async (signal) =>
    words === "" ? undefined : await memory.searchFacts({ query: words, limit: FOUND, project }, { signal }),
  );
  const [text, setText] = useState("");
  const write = useAction(async () => {
    await memory.writeFact({ text, scope: FactScope.PERSONAL, project });
    setText("");
    found.again();
  });
  return (
    <PageFrame title="Memory" command={`hlvm memory search ${JSON.stringify(words || "words")}`}>
      <div className={table.form}>
        <input
          className={`${table.input} ${table.wide}`}
          type="search"
          aria-label="Search what is remembered"
          placeholder="Search what is remembered"
          value={query}
          onChange={(event) => set("q", event.target.value)}
          data-filter
        />
        <select
          className={table.input}
          aria-label="What was learnt in this folder too"
          value={project}
          onChange={(event) => set("project", event.target.value)}
        >
          <option value="">of no folder</option>
          {[...new Set([...folders, project])]
            .filter((folder) => folder !== "")
            .map((folder) => (
              <option key={folder} value={folder}>
                {folderName(folder)}
              </option>
            ))}
        </select>
      </div>
      <form
        className={table.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") write.run();
        }}
      >
        <input
          className={`${table.input} ${table.wide}`}
          aria-label="Something to remember"
          placeholder="Write something down, for your sessions"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" disabled={text.trim() === "" || write.isBusy}>
          Remember
        </Button>
      </form>
      <TroubleNote trouble={found.trouble ?? write.trouble} onAgain={found.trouble === undefined ? undefined : found.again} />
      {found.value?.source === SearchSource.DATABASE ? <p className={table.section}>{found.value.notice}</p> : null}
      {words === "" ? (
        <Empty title="Search for what was learnt" command='hlvm memory search "words"'>
          <p>Facts outlive their session. They are found by words; what you write down above is yours alone.</p>
        </Empty>
      ) : found.value?.facts.length === 0 ? (
        <Empty title="Nothing is remembered about that" command='hlvm memory write "…"' />
      ) : (
        <ul>{found.value?.facts.map(({ fact }) => fact && <FactRow key={fact.factId} fact={fact} onChanged={found.again} />)}</ul>
      )}
    </PageFrame>
  );
}
