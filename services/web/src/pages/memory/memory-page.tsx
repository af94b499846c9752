import { enumWord } from "@hlvm/ndjson/enum-word";
import { FactOriginSchema, FactScope, FactScopeSchema, MemoryService, SearchSource, type Fact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { Pin, PinOff, Trash2 } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { useSearchParams } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import { RelativeTime } from "../../parts/relative-time.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import { PageFrame } from "../../shell/page-frame.tsx";

const FOUND = 50;

/** What is remembered, found by words, and changed or ended. */
export function MemoryPage() {
  const memory = useClient(MemoryService);
  const [search, setSearch] = useSearchParams();
  const query = search.get("q") ?? "";
  const words = useDeferredValue(query.trim());
  const found = useCall(words, async (signal) =>
    words === "" ? undefined : await memory.searchFacts({ query: words, limit: FOUND }, { signal }),
  );
  const [text, setText] = useState("");
  const write = useAction(async () => {
    await memory.writeFact({ text, scope: FactScope.PERSONAL });
    setText("");
    found.again();
  });
  return (
    <PageFrame title="Memory">
      <div className={table.form}>
        <input
          className={`${table.input} ${table.wide}`}
          type="search"
          aria-label="Search what is remembered"
          placeholder="Search what is remembered"
          value={query}
          onChange={(event) => setSearch(event.target.value === "" ? {} : { q: event.target.value }, { replace: true })}
        />
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

function FactRow({ fact, onChanged }: { readonly fact: Fact; readonly onChanged: () => void }) {
  const memory = useClient(MemoryService);
  const { factId, text, scope, origin, pinned, writtenBy, validFrom, project } = fact;
  const change = useAction(async (change: { case: "pinned" | "remove"; value: boolean }) => {
    await memory.editFact({ factId, project, change: change as { case: "pinned"; value: boolean } });
    onChanged();
  });
  return (
    <li className={table.fact}>
      <p>{text}</p>
      <div className={table.actions}>
        <Button look="bare" disabled={change.isBusy} onClick={() => change.run({ case: "pinned", value: !pinned })}>
          <Icon of={pinned ? PinOff : Pin} size={14} /> {pinned ? "Unpin" : "Pin"}
        </Button>
        <Button look="bare" disabled={change.isBusy} onClick={() => change.run({ case: "remove", value: true })}>
          <Icon of={Trash2} size={14} /> End
        </Button>
      </div>
      <p>
        {pinned ? <span className={parts.chip}>pinned</span> : null} {enumWord(FactScopeSchema, scope)} ·{" "}
        {enumWord(FactOriginSchema, origin).replaceAll("_", " ")} by {personName(writtenBy)} · <RelativeTime at={validFrom} />
      </p>
      <TroubleNote trouble={change.trouble} />
    </li>
  );
}
