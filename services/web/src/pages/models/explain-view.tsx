import { ModelService, type ExplainRouteResponse, type RouteCandidate } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { useState, type SubmitEvent } from "react";
import { useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import styles from "./models.module.css";

const LONGEST_TASK = 16_384;
const NEEDS = { tools: "uses tools", images: "sees images", documents: "reads PDF", localOnly: "runs on this machine" } as const;
type Need = keyof typeof NEEDS;

export interface RouteQuestion {
  readonly route: string;
  readonly task: string;
  readonly needs: readonly Need[];
}

interface ExplainViewProps {
  readonly routes: readonly string[];
  readonly question: RouteQuestion;
  readonly onQuestion: (question: RouteQuestion) => void;
}

/** Which model `auto` or a route takes for a task, and why. */
export function ExplainView({ routes, question, onQuestion }: ExplainViewProps) {
  const client = useClient(ModelService);
  const [draft, setDraft] = useState(question.task);
  const { route, task, needs } = question;
  const { value, trouble, again } = useCall(JSON.stringify(question), (signal) =>
    client.explainRoute({ route, task, needs: Object.fromEntries(needs.map((need) => [need, true])) }, { signal }),
  );
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onQuestion({ ...question, task: draft.trim() });
  };
  return (
    <>
      <form className={table.form} onSubmit={submit}>
        <input
          className={`${table.input} ${table.wide}`}
          aria-label="Task"
          placeholder="What you would ask; it is not kept, and no model reads it"
          value={draft}
          maxLength={LONGEST_TASK}
          onChange={(event) => setDraft(event.target.value)}
          data-key="t"
          data-filter
          autoFocus
        />
        <select
          className={table.input}
          aria-label="Route"
          value={route}
          onChange={(event) => onQuestion({ ...question, route: event.target.value })}
        >
          {routes.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <Button look="primary" type="submit">
          Explain
        </Button>
        <fieldset className={table.choices} aria-label="The model">
          {(Object.keys(NEEDS) as Need[]).map((need) => (
            <label key={need}>
              <input
                type="checkbox"
                checked={needs.includes(need)}
                onChange={({ target }) =>
                  onQuestion({ ...question, needs: target.checked ? [...needs, need] : needs.filter((each) => each !== need) })
                }
              />
              {NEEDS[need]}
            </label>
          ))}
        </fieldset>
      </form>
      <TroubleNote trouble={trouble} onAgain={again} />
      {value === undefined ? trouble === undefined ? <Skeleton rows={4} /> : null : <Explained explained={value} />}
    </>
  );
}

function Explained({ explained: { route, candidates, filtered, words } }: { readonly explained: ExplainRouteResponse }) {
  const [first] = candidates;
  const isWeighted = candidates.some(({ share }) => share > 0);
  return (
    <>
      <div className={styles.verdict} role="status">
        {first === undefined ? (
          <p>{route} finds no model that fits.</p>
        ) : isWeighted ? (
          <p>{route} draws one of these; where it fails, another one answers.</p>
        ) : (
          <p>
            {route} takes <strong>{shownProse(first.model)}</strong>
            {candidates.length > 1 ? "; where it fails, the next one answers." : "."}
          </p>
        )}
        {words.length === 0 ? null : (
          <p className={table.quiet}>Words that count: {words.map(({ word, part }) => `${word} (${plain(part)})`).join(", ")}.</p>
        )}
      </div>
      {first === undefined ? null : <Candidates candidates={candidates} isWeighted={isWeighted} />}
      {filtered.length === 0 ? null : (
        <section className={styles.section} aria-labelledby="left-out">
          <h2 id="left-out">Left out</h2>
          <ul className={styles.leftOut}>
            {filtered.map(({ model, reason, why }) => (
              <li key={model}>
                <span>{shownProse(model)}</span>
                <code>{reason}</code>
                <span className={table.quiet}>{shownProse(why)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface CandidatesProps {
  readonly candidates: readonly RouteCandidate[];
  readonly isWeighted: boolean;
}

/** The best first; what does not count for the task has a dash. */
function Candidates({ candidates, isWeighted }: CandidatesProps) {
  const names = candidates[0]!.parts.map(({ name }) => name);
  return (
    <div className={table.scrolls} tabIndex={0} role="region" aria-label="Models that fit">
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">Model</th>
            {[...(names.length > 0 ? ["score", ...names] : []), ...(isWeighted ? ["share"] : [])].map((name) => (
              <th key={name} scope="col" className={`${table.right} ${styles.part}`}>
                {plain(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {candidates.map(({ model, score, parts, share }) => (
            <tr key={model}>
              <td className={table.nowrap}>{shownProse(model)}</td>
              {names.length === 0 ? null : (
                <td className={table.right}>
                  <strong>{score.toFixed(2)}</strong>
                </td>
              )}
              {parts.map(({ name, value, weight }) => (
                <td key={name} className={`${table.right} ${table.nowrap}`}>
                  {weight === 0 ? <span className={table.quiet}>–</span> : value.toFixed(2)}
                  {weight === 0 ? null : <span className={table.quiet}> × {weight}</span>}
                </td>
              ))}
              {isWeighted ? <td className={table.right}>{Math.round(share * 100)} %</td> : null}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function plain(part: string): string {
  return part.replaceAll("_", " ");
}
