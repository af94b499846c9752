import { X } from "lucide-react";
import { Icon } from "../../parts/icon.tsx";
import { shownCode } from "../../parts/shown-text.ts";
import { folderName } from "../../parts/words.ts";
import { FACT_FILTERS, type FactFilterName, type MemoryQuestion } from "./memory-question.ts";
import styles from "./memory.module.css";

const TIMES = { "1d": "of a day", "7d": "of a week", "30d": "of a month" } as const;
const CHOSEN = ["scope", "origin", "type"] as const;
const WRITTEN = { category: "Category", by: "By, such as ada" } as const;

interface MemoryFiltersProps {
  readonly question: MemoryQuestion;
  readonly withEnded: boolean | undefined;
  readonly project: string;
  readonly folders: readonly string[];
  readonly onChange: (changes: Readonly<Record<string, string>>) => void;
}

/** What narrows the facts; all of it is the address. */
export function MemoryFilters({ question, withEnded, project, folders, onChange }: MemoryFiltersProps) {
  const { until } = question;
  return (
    <div className={styles.filters} role="group" aria-label="Which facts">
      <FolderSelect project={project} folders={folders} onChange={(folder) => onChange({ project: folder })} />
      {CHOSEN.map((name) => (
        <select
          key={name}
          aria-label={`Of which ${name}`}
          value={question[name] ?? ""}
          onChange={(event) => onChange({ [name]: event.target.value })}
        >
          <option value="">any {name}</option>
          {FACT_FILTERS[name].map((word) => (
            <option key={word} value={word}>
              {word.replaceAll("_", " ")}
            </option>
          ))}
        </select>
      ))}
      <select aria-label="Since when" value={question.since ?? ""} onChange={(event) => onChange({ since: event.target.value })}>
        <option value="">of all times</option>
        {Object.entries(TIMES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
        {question.since !== undefined && !(question.since in TIMES) ? <option value={question.since}>since {question.since}</option> : null}
      </select>
      {(Object.keys(WRITTEN) as (keyof typeof WRITTEN)[]).map((name) => (
        <WrittenFilter key={`${name} ${question[name] ?? ""}`} name={name} value={question[name] ?? ""} onChange={onChange} />
      ))}
      {withEnded === undefined ? null : (
        <label className={styles.ended}>
          <input type="checkbox" checked={withEnded} onChange={(event) => onChange({ ended: event.target.checked ? "1" : "" })} /> Ended
          ones too
        </label>
      )}
      {until === undefined ? null : (
        <button type="button" className={styles.chip} aria-label={`Without until ${until}`} onClick={() => onChange({ until: "" })}>
          until {shownCode(until)} <Icon of={X} size={14} />
        </button>
      )}
    </div>
  );
}

interface FolderSelectProps {
  readonly project: string;
  readonly folders: readonly string[];
  readonly onChange: (folder: string) => void;
}

/** What was learnt in a folder is found there alone. */
export function FolderSelect({ project, folders, onChange }: FolderSelectProps) {
  return (
    <select
      aria-label="What was learnt in this folder too"
      title={project}
      value={project}
      onChange={(event) => onChange(event.target.value)}
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
  );
}

interface WrittenFilterProps {
  readonly name: Extract<FactFilterName, "category" | "by">;
  readonly value: string;
  readonly onChange: (changes: Readonly<Record<string, string>>) => void;
}

function WrittenFilter({ name, value, onChange }: WrittenFilterProps) {
  const set = (text: string): void => {
    if (text.trim() !== value) onChange({ [name]: text.trim() });
  };
  return (
    <input
      aria-label={WRITTEN[name]}
      placeholder={WRITTEN[name]}
      maxLength={64}
      defaultValue={value}
      onBlur={(event) => set(event.target.value)}
      onKeyDown={(event) => event.key === "Enter" && set(event.currentTarget.value)}
    />
  );
}
