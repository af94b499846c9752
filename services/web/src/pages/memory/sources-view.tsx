import { useDeferredValue } from "react";
import { useSearchParams } from "wouter";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  SessionStatusSchema,
  TranscriptService,
  type FoundTranscript,
  type Transcript,
  type TranscriptSource,
} from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { useAction, useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Empty } from "../../parts/empty.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import type { MemoryViewProps } from "./memory-page.tsx";
import { addressWith } from "./memory-question.ts";
import { TranscriptTurns } from "./transcript-turns.tsx";
import styles from "./sources.module.css";

const MOST = 50;

/** Sessions with other agents that were imported from one's machines: from where, which, and what was said. */
export function SourcesView({ query }: MemoryViewProps) {
  const [search, setSearch] = useSearchParams();
  const open = (transcript: Transcript | undefined, turn = 0): void =>
    setSearch((before) =>
      addressWith(
        { tool: transcript?.tool ?? "", session: transcript?.session ?? "", turn: transcript === undefined ? "" : String(turn) },
        before,
      ),
    );
  const [tool, session, turn] = ["tool", "session", "turn"].map((name) => search.get(name) ?? "");
  if (tool !== "" && session !== "")
    return (
      <TranscriptTurns
        key={`${tool} ${session} ${turn}`}
        tool={tool!}
        session={session!}
        turn={Number(turn) || 0}
        onClose={() => open(undefined)}
      />
    );
  return <Sessions query={query} onOpen={open} />;
}

interface SessionsProps {
  readonly query: string;
  readonly onOpen: (transcript: Transcript, turn?: number) => void;
}

function Sessions({ query, onOpen }: SessionsProps) {
  const client = useClient(TranscriptService);
  const words = useDeferredValue(query.trim());
  const { value, trouble, again } = useCall(`sources ${words}`, async (signal) => {
    const [{ sources }, found] = await Promise.all([
      client.listTranscriptSources({}, { signal }),
      words === ""
        ? client.listTranscripts({ limit: MOST }, { signal }).then(({ transcripts }) => transcripts.map((transcript) => ({ transcript })))
        : client.searchTranscripts({ query: words, limit: MOST }, { signal }).then((answer) => answer.found),
    ]);
    return { sources, found };
  });
  const forget = useAction(async (tool: string) => {
    await client.forgetTranscripts({ tool });
    again();
  });
  if (value === undefined) return trouble === undefined ? <Skeleton rows={6} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  if (value.sources.length === 0)
    return (
      <Empty title="Nothing was imported" command="hlvm memory source list">
        <p>Sessions with Claude Code, Codex, Cursor, aider, opencode and others come from your machine once you add them there.</p>
      </Empty>
    );
  return (
    <div className={styles.sources}>
      <TroubleNote trouble={trouble ?? forget.trouble} onAgain={again} />
      <SourceTable sources={value.sources} isBusy={forget.isBusy} onForget={forget.run} />
      {value.found.length === 0 ? <p className={styles.none}>No session holds these words.</p> : null}
      <ul className={styles.sessions} aria-label="Sessions">
        {value.found.map((found) => (
          <SessionRow key={`${found.transcript!.tool} ${found.transcript!.session}`} found={found} onOpen={onOpen} />
        ))}
      </ul>
    </div>
  );
}

interface SourceTableProps {
  readonly sources: readonly TranscriptSource[];
  readonly isBusy: boolean;
  readonly onForget: (tool: string) => void;
}

function SourceTable({ sources, isBusy, onForget }: SourceTableProps) {
  return (
    <div className={table.scrolls} tabIndex={0} role="region" aria-label="Sources">
      <table className={table.table}>
        <thead>
          <tr>
            {["Tool", "Machine"].map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
            {["Sessions", "Turns", "Imported", ""].map((heading) => (
              <th key={heading} scope="col" className={table.right}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sources.map(({ tool, machine, sessions, turns, sessionsWithoutPerson, importedAt }) => (
            <tr key={`${tool} ${machine}`}>
              <td>{tool}</td>
              <td>{shownProse(machine)}</td>
              <td className={table.right}>
                {sessions}
                {sessionsWithoutPerson > sessions / 2 ? " (in most, nobody speaks: is the tool newer than HLVM?)" : ""}
              </td>
              <td className={table.right}>{turns}</td>
              <td className={table.right}>
                <RelativeTime at={importedAt} />
              </td>
              <td className={table.right}>
                <button
                  type="button"
                  className={styles.forget}
                  disabled={isBusy}
                  onClick={() => confirm(`Take all sessions of ${tool} from memory, for good?`) && onForget(tool)}
                >
                  Forget
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SessionRow({
  found: { transcript, turn },
  onOpen,
}: { readonly found: Pick<FoundTranscript, "transcript" | "turn"> } & Pick<SessionsProps, "onOpen">) {
  const { tool, title, folder, turns, lastAt, labels } = transcript!;
  return (
    <li>
      <button type="button" className={styles.session} onClick={() => onOpen(transcript!, turn?.ordinal)}>
        <strong>{shownProse(labels?.label || title || "No title")}</strong>
        {turn === undefined ? null : <span className={styles.excerpt}>{shownProse(turn.text)}</span>}
        <small>
          {tool} · {turns} turns
          {labels === undefined ? "" : ` · ${enumWord(SessionStatusSchema, labels.status)}`}
          {folder === "" ? "" : ` · ${shownProse(folder)}`} · <RelativeTime at={lastAt} />
        </small>
      </button>
    </li>
  );
}
