import { Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import { shownCode } from "../../parts/shown-text.ts";
import { AUDIT_FIELDS, FIELD_WORDS, lineOf, questionOfLine, type AuditFieldName, type AuditQuestion } from "./audit-question.ts";
import styles from "./audit.module.css";

interface AuditQueryProps {
  readonly question: AuditQuestion;
  readonly onQuestion: (question: AuditQuestion) => void;
  /** How much was found; empty while it is looked for. */
  readonly found: string;
}

/** The question as chips and as one line of text: two views of the same, and of the address. */
export function AuditQuery({ question, onQuestion, found }: AuditQueryProps) {
  const line = lineOf(question);
  const [draft, setDraft] = useState(line);
  const [problem, setProblem] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    setDraft(line);
    setProblem("");
  }, [line]);
  const ask = (text: string): void => {
    const asked = questionOfLine(text);
    if ("problem" in asked && asked.problem !== undefined) setProblem(asked.problem);
    else onQuestion(asked as AuditQuestion);
  };
  const add = (chosen: string): void => {
    const [name, word] = chosen.split(" ") as [AuditFieldName, string | undefined];
    if (word !== undefined) return onQuestion({ ...question, [name]: word });
    setDraft(`${line} ${name}:`.trimStart());
    field.current?.focus();
  };
  return (
    <form
      className={styles.query}
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        ask(draft);
      }}
    >
      <div className={styles.chips}>
        {AUDIT_FIELDS.filter((name) => question[name] !== undefined).map((name) => (
          <span key={name} className={styles.chip}>
            <span>{name}</span>
            <strong>{shownCode(question[name]!)}</strong>
            <button
              type="button"
              aria-label={`Without ${name} ${question[name]!}`}
              onClick={() => onQuestion({ ...question, [name]: undefined })}
            >
              <Icon of={X} size={14} />
            </button>
          </span>
        ))}
        <select className={styles.add} aria-label="Add a filter" value="" onChange={(event) => add(event.target.value)}>
          <option value="">+ Filter</option>
          {AUDIT_FIELDS.map((name) => {
            const words = FIELD_WORDS[name];
            return words === undefined ? (
              <option key={name} value={name}>
                {name} …
              </option>
            ) : (
              <optgroup key={name} label={name}>
                {words.map((word) => (
                  <option key={word} value={`${name} ${word}`}>
                    {name} {word}
                  </option>
                ))}
              </optgroup>
            );
          })}
        </select>
      </div>
      <label className={styles.line}>
        <Icon of={Search} />
        <input
          ref={field}
          data-filter
          aria-label="The question in one line"
          placeholder='tool:shell_exec decision:deny since:7d "rm -rf"'
          aria-invalid={problem !== ""}
          spellCheck={false}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
        <span className={styles.found} role="status">
          {found}
        </span>
        <span className={styles.recorded}>Reading is recorded</span>
      </label>
      {problem === "" ? null : (
        <p className={parts.danger} role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
