import { MemoryService, type Fact, type FoundFact, type ScoreParts } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { RecallEntry } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import styles from "./recall.module.css";

const MOST = 20;

interface RecallCandidatesProps {
  readonly recall: RecallEntry;
  readonly onOpen: (fact: Fact) => void;
}

/** What today's memory finds by the same words, with what each score is made of. */
export function RecallCandidates({ recall: { query, project, shownFactIds }, onOpen }: RecallCandidatesProps) {
  const client = useClient(MemoryService);
  const { value, trouble, again } = useCall("candidates", (signal) =>
    // To look at a recall is none.
    client.searchFacts({ query, project, limit: MOST, unrecorded: true }, { signal }),
  );
  if (value === undefined) return trouble === undefined ? <Skeleton rows={4} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  const largest = Math.max(
    ...value.facts.flatMap(({ parts }) => (parts === undefined ? [] : addedOf(parts).map(([, part]) => part))),
    1e-9,
  );
  return (
    <section className={styles.candidates} aria-labelledby="candidates">
      <h3 id="candidates">What fits these words now</h3>
      <p className={styles.note} role="note">
        This is today’s memory, not that of then: facts have come, gone and aged since. Of longer questions only the beginning is kept.
      </p>
      {value.notice === "" ? null : <p className={styles.note}>{shownProse(value.notice)}</p>}
      {value.facts.length === 0 ? <p className={styles.note}>Nothing fits them now.</p> : null}
      <ol aria-label="Candidates">
        {value.facts.map((found) => (
          <Candidate
            key={found.fact!.factId}
            found={found}
            largest={largest}
            wasShown={shownFactIds.includes(found.fact!.factId)}
            onOpen={onOpen}
          />
        ))}
      </ol>
    </section>
  );
}

interface CandidateProps {
  readonly found: FoundFact;
  /** Of all parts of all scores: as long as a bar gets. */
  readonly largest: number;
  readonly wasShown: boolean;
  readonly onOpen: (fact: Fact) => void;
}

function Candidate({ found: { fact, score, parts }, largest, wasShown, onOpen }: CandidateProps) {
  return (
    <li>
      <button type="button" className={styles.fact} onClick={() => onOpen(fact!)}>
        {shownProse(fact!.text)}
      </button>
      <small>
        score {score.toFixed(2)}
        {parts === undefined
          ? ""
          : `: the sum of these × ${parts.provenance.toFixed(2)} for who said it × ${parts.tieBreak.toFixed(2)} for its age`}
        {wasShown ? " · was shown then" : ""}
      </small>
      {parts === undefined ? null : (
        <dl className={styles.parts}>
          {addedOf(parts).map(([name, part]) => (
            <Part key={name} name={name} value={part} most={largest} text={part.toFixed(2)} />
          ))}
          <Part
            name="covers"
            value={parts.coverage}
            most={1}
            text={`${parts.coverage.toFixed(2)} ${parts.coverage >= parts.gate ? "≥" : "<"} ${parts.gate.toFixed(2)}`}
          />
        </dl>
      )}
    </li>
  );
}

interface PartProps {
  readonly name: string;
  readonly value: number;
  readonly most: number;
  readonly text: string;
}

function Part({ name, value, most, text }: PartProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <meter min={0} max={most} value={value} aria-label={`${name}: ${text}`} />
        <span>{text}</span>
      </dd>
    </div>
  );
}

/** What is added up; what adds nothing is left out. */
function addedOf({ terms, neighbours, container, actor, date, similarity }: ScoreParts): (readonly [name: string, part: number])[] {
  const words = terms.map(({ term, score }) => [`“${term}”`, score] as const);
  const others = [
    ["beside it", neighbours],
    ["its session", container],
    ["who", actor],
    ["when", date],
    ["its meaning", similarity],
  ] as const;
  return [...words, ...others].filter(([, part]) => part !== 0);
}
