import { timestampDate, timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { FactOriginSchema } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import {
  FactFaultKindSchema,
  MemoryStatsService,
  RecallKindSchema,
  type EmbeddingCounts,
  type FactFault,
  type GetMemoryStatsResponse,
  type RecallCount,
} from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { parseTime } from "@hlvm/ndjson/parse-time";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { secondsWord } from "../../parts/words.ts";
import type { MemoryViewProps } from "./memory-page.tsx";
import styles from "./pulse.module.css";

/** Whether memory is any good: hits, what answers made of them, what is kept, and what somebody should see to. */
export function PulseView({ question, project, version, onOpen }: MemoryViewProps) {
  const client = useClient(MemoryStatsService);
  const { since, until } = question;
  const { value, trouble, again } = useCall(`pulse ${since} ${until} ${project} ${version}`, async (signal) => {
    const [from, to] = [since, until].map((text) => (text === undefined ? undefined : parseTime(text, new Date())));
    const period = { since: from && timestampFromDate(from), until: to && timestampFromDate(to) };
    const [stats, { faults, lookedAt }] = await Promise.all([
      client.getMemoryStats({ ...period, project }, { signal }),
      client.auditFacts({ project }, { signal }),
    ]);
    return { stats, faults, lookedAt };
  });
  if (value === undefined) return trouble === undefined ? <Skeleton rows={8} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  const { stats, faults, lookedAt } = value;
  return (
    <div className={styles.pulse}>
      <TroubleNote trouble={trouble} onAgain={again} />
      <p className={styles.none}>
        From {dayOf(stats.since)} to {dayOf(stats.until)}: what you and your runs asked.
      </p>
      <Rates stats={stats} />
      <Asked stats={stats} />
      <Kept stats={stats} />
      <section aria-labelledby="faults">
        <h2 id="faults">To see to</h2>
        {faults.length === 0 ? (
          <p className={styles.none}>Nothing is wrong with the {lookedAt} facts here.</p>
        ) : (
          <ul className={styles.faults}>
            {faults.map((fault) => (
              <Fault key={`${fault.kind} ${fault.factIds[0]}`} fault={fault} onOpen={onOpen} />
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

function dayOf(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toLocaleDateString(undefined, { dateStyle: "medium" });
}

function Rates({ stats }: { readonly stats: GetMemoryStatsResponse }) {
  const sumOf = (count: (recall: RecallCount) => number): number => stats.recalls.reduce((sum, recall) => sum + count(recall), 0);
  const rates = [
    ["Hits", sumOf(({ hits }) => hits), sumOf(({ count }) => count), "times that memory was asked and had something"],
    ["Useful hits", stats.answersWithUse, stats.answersWithFacts, "answers that were shown facts hold one of them"],
    ["Found out again", stats.answersWithRederivation, stats.answers, "answers hold a fact that nothing had shown them"],
    [
      "Marked wrong",
      sumOf(({ factsMarkedWrong }) => factsMarkedWrong),
      sumOf(({ factsShown }) => factsShown),
      "facts shown did not belong there, as you marked them",
    ],
  ] as const;
  return (
    <dl className={styles.rates}>
      {rates.map(([name, part, whole, meaning]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{whole === 0 ? "–" : `${Math.round((100 * part) / whole)} %`}</strong>
            <span>
              {part} of {whole} {meaning}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Asked({ stats }: { readonly stats: GetMemoryStatsResponse }) {
  return (
    <section aria-labelledby="asked">
      <h2 id="asked">Asked in your name</h2>
      {stats.recalls.length === 0 ? (
        <p className={styles.none}>Neither you nor a run of yours asked memory in this time.</p>
      ) : (
        <div className={table.scrolls} tabIndex={0} role="region" aria-label="Asked in your name">
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">By</th>
                {["Times", "Hits", "Facts shown", "Marked wrong", "p50", "p95"].map((heading) => (
                  <th key={heading} scope="col" className={table.right}>
                    {heading}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {stats.recalls.map(({ kind, count, hits, factsShown, factsMarkedWrong, p50Milliseconds, p95Milliseconds }) => (
                <tr key={kind}>
                  <td>{ASKED_BY[enumWord(RecallKindSchema, kind)] ?? enumWord(RecallKindSchema, kind)}</td>
                  <td className={table.right}>{count}</td>
                  <td className={table.right}>{hits}</td>
                  <td className={table.right}>{factsShown}</td>
                  <td className={table.right}>{factsMarkedWrong}</td>
                  <td className={table.right}>{secondsWord(Math.round(p50Milliseconds))}</td>
                  <td className={table.right}>{secondsWord(Math.round(p95Milliseconds))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const ASKED_BY: Readonly<Record<string, string>> = {
  run: "Runs, at their start",
  tool: "Runs, with memory_search",
  search: "You, with a search",
};

const AGES: Readonly<Record<number, string>> = { 0: "more than a year old", 1: "of the last day" };

function meaningsOf({ model, made, waiting, refused }: EmbeddingCounts): string {
  const others = [waiting > 0 ? `${waiting} wait` : "", refused > 0 ? `${refused} were refused` : ""].filter((word) => word !== "");
  return [`Compared by what they mean, too: ${made} facts, turns and pages have their vector by ${model}`, ...others].join(", ") + ".";
}

function Kept({ stats }: { readonly stats: GetMemoryStatsResponse }) {
  const total = stats.factsByOrigin.reduce((sum, { count }) => sum + count, 0);
  const rows = [
    ...stats.factsByOrigin.map(({ origin, count }) => [enumWord(FactOriginSchema, origin), count] as const),
    ...stats.factsByAge.map(({ days, count }) => [AGES[days] ?? `up to ${days} days old`, count] as const),
    ["never shown to you", stats.factsNeverShown] as const,
  ];
  return (
    <section aria-labelledby="kept">
      <h2 id="kept">Kept: {total}</h2>
      <ul className={styles.bars}>
        {rows.map(([name, count]) => (
          <li key={name}>
            <span>{name}</span>
            <meter min={0} max={Math.max(total, 1)} value={count} aria-label={`${name}: ${count} of ${total}`} />
            <span>{count}</span>
          </li>
        ))}
      </ul>
      {stats.embeddings === undefined ? null : <p className={styles.none}>{meaningsOf(stats.embeddings)}</p>}
    </section>
  );
}

function Fault({ fault, onOpen }: { readonly fault: FactFault; readonly onOpen: (factId: string) => void }) {
  return (
    <li>
      <b>{enumWord(FactFaultKindSchema, fault.kind)}</b> {shownProse(fault.message)}
      <small>{shownProse(fault.advice)}</small>
      <span className={styles.ids}>
        {fault.factIds.slice(0, 5).map((id) => (
          <button key={id} type="button" onClick={() => onOpen(id)}>
            {id.slice(0, 8)}
          </button>
        ))}
      </span>
    </li>
  );
}
