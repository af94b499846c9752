import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import styles from "./composer.module.css";
import { modeWord } from "./words.ts";

/** Those that ask a person, or only read: a page has somebody who can be asked. */
const MODES = [PermissionMode.DEFAULT, PermissionMode.PLAN, PermissionMode.ACCEPT_EDITS] as const;

export const MODE_HINTS: Readonly<Record<number, string>> = {
  [PermissionMode.DEFAULT]: "Asks before it changes anything",
  [PermissionMode.PLAN]: "Nothing is written before you accept the plan",
  [PermissionMode.ACCEPT_EDITS]: "Edits in the workspace without asking",
};

interface ModeSelectProps {
  readonly mode: PermissionMode;
  readonly onMode: (mode: PermissionMode) => void;
}

export function ModeSelect({ mode, onMode }: ModeSelectProps) {
  return (
    <select
      className={styles.field}
      aria-label="Permission mode"
      value={mode}
      onChange={(event) => onMode(Number(event.target.value) as PermissionMode)}
    >
      {MODES.map((one) => (
        <option key={one} value={one}>
          {modeWord(one)}
        </option>
      ))}
    </select>
  );
}
