import { camelCase } from "@hlvm/ndjson/camel-case";
import { AuditField, type AggregateResponse, type AggregateResponse_Facet } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { personName } from "../../parts/words.ts";
import { FIELD_WORDS, type AuditFieldName, type AuditQuestion } from "./audit-question.ts";
import styles from "./audit.module.css";

/** What is counted beside the calls, in this order. */
export const FACETS: readonly AuditField[] = [
  AuditField.DECISION,
  AuditField.OUTCOME,
  AuditField.PRINCIPAL,
  AuditField.TOOL,
  AuditField.STEP,
  AuditField.SAFETY_LEVEL,
  AuditField.RULE,
];

interface Narrowing {
  readonly title: string;
  readonly name: AuditFieldName;
  /** As a question says it. */
  readonly word: (value: string) => string;
}

const same = (value: string): string => value;

/** How a counted field narrows a question. */
export const NARROWINGS: Readonly<Record<number, Narrowing>> = {
  [AuditField.TOOL]: { title: "Tool", name: "tool", word: same },
  [AuditField.PRINCIPAL]: { title: "Who", name: "principal", word: same },
  [AuditField.SESSION]: { title: "Session", name: "session", word: same },
  [AuditField.DECISION]: { title: "Decision", name: "decision", word: same },
  [AuditField.STEP]: { title: "Step", name: "step", word: same },
  [AuditField.RULE]: { title: "Rule", name: "rule", word: same },
  [AuditField.SAFETY_LEVEL]: { title: "Level", name: "level", word: (value) => value.toUpperCase() },
  [AuditField.MODE]: { title: "Mode", name: "mode", word: camelCase },
  [AuditField.OUTCOME]: { title: "Outcome", name: "outcome", word: same },
};

/** Words of the contract as prose; names as they are. */
export function shownWord(name: AuditFieldName, value: string): string {
  return name in FIELD_WORDS ? value.replaceAll("_", " ") : personName(value);
}

function hasValues({ counts }: AggregateResponse_Facet): boolean {
  return counts.length > 0;
}

interface FacetsProps {
  readonly counts: AggregateResponse | undefined;
  readonly question: AuditQuestion;
  readonly onQuestion: (question: AuditQuestion) => void;
}

/** How many events have which value; pressing one asks for those alone, pressing it again for all. */
export function Facets({ counts, question, onQuestion }: FacetsProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section className={styles.facets} aria-label="Counts by field" data-open={isOpen}>
      <Button look="bare" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {isOpen ? "Hide counts by field" : "Counts by field"}
      </Button>
      <div>
        {counts?.facets.filter(hasValues).map(({ field, counts: values, otherEvents }) => {
          const { title, name, word } = NARROWINGS[field]!;
          const most = values.reduce((greatest, { events }) => Math.max(greatest, Number(events)), 1);
          return (
            <div key={field}>
              <h2>{title}</h2>
              <ul>
                {values.map(({ value, events }) => {
                  const asked = word(value);
                  const isChosen = question[name] === asked;
                  return (
                    <li key={value}>
                      <button
                        type="button"
                        disabled={value === ""}
                        aria-pressed={isChosen}
                        onClick={() => onQuestion({ ...question, [name]: isChosen ? undefined : asked })}
                      >
                        <span className={styles.share} style={{ width: `${(Number(events) / most) * 100}%` }} />
                        <span title={value}>{value === "" ? "none" : shownWord(name, asked)}</span>
                        <span>{events.toLocaleString()}</span>
                      </button>
                    </li>
                  );
                })}
                {otherEvents === 0n ? null : <li className={styles.others}>and {otherEvents.toLocaleString()} of other values</li>}
              </ul>
            </div>
          );
        })}
      </div>
    </section>
  );
}
