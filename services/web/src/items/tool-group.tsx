import { callTarget, parsedArguments } from "@hlvm/conversation/call-target";
import type { CallState, ToolCallView, ToolsItem } from "@hlvm/conversation/item";
import { ChevronRight, CircleX, FilePen, FileSearch, FileText, Globe, Hammer, Hourglass, Terminal, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { VisibleLines } from "../parts/code-lines.tsx";
import { CommandOutput } from "../parts/command-output.tsx";
import { Icon } from "../parts/icon.tsx";
import { shownCode } from "../parts/shown-text.ts";
import { StateMark, type Tone } from "../parts/state-mark.tsx";
import { secondsWord } from "../parts/words.ts";
import { EarlierOutput } from "./earlier-output.tsx";
import styles from "./items.module.css";

const ICONS: readonly (readonly [RegExp, LucideIcon])[] = [
  [/^shell_|process/, Terminal],
  [/edit|write|create|keep/, FilePen],
  [/search|find|grep|list/, FileSearch],
  [/^read|git/, FileText],
  [/^web/, Globe],
];

const STATES: Readonly<Record<CallState, readonly [Tone, string] | undefined>> = {
  chosen: undefined,
  succeeded: undefined,
  asked: ["warn", "waits for an answer"],
  waiting: ["plain", "waits for a sandbox"],
  running: ["info", "running"],
  failed: ["danger", "failed"],
  denied: ["danger", "denied"],
};

/** Neighbouring calls as one card, a row each. */
export function ToolGroup({ item: { calls } }: { readonly item: ToolsItem }) {
  return (
    <article className={styles.card} aria-label={calls.length === 1 ? `Call of ${calls[0]!.tool}` : `${calls.length} calls`}>
      {calls.map((call) => (
        <CallRow key={call.callId} call={call} />
      ))}
    </article>
  );
}

/** Opens itself where it fails, and while it prints. */
function CallRow({ call }: { readonly call: ToolCallView }) {
  const [chosen, setChosen] = useState<boolean | undefined>(undefined);
  const { tool, state, exitCode, durationMilliseconds, outcome } = call;
  const isOpen = chosen ?? (state === "failed" || (state === "running" && call.output !== ""));
  const icon = ICONS.find(([pattern]) => pattern.test(tool))?.[1] ?? Hammer;
  const word = STATES[state];
  return (
    <details className={styles.call} open={isOpen}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          setChosen(!isOpen);
        }}
      >
        <Icon of={icon} />
        <span className={styles.tool}>{tool}</span>
        <span className={styles.target}>{shownCode(callTarget(call))}</span>
        {word === undefined ? null : (
          <StateMark
            tone={word[0]}
            icon={state === "asked" || state === "waiting" ? Hourglass : state === "running" ? undefined : CircleX}
            isLive={state === "running"}
          >
            {state === "failed" && exitCode !== undefined ? `exit ${exitCode}` : word[1]}
          </StateMark>
        )}
        <span className={styles.duration}>{durationMilliseconds === undefined ? "" : secondsWord(durationMilliseconds)}</span>
        <Icon of={ChevronRight} />
      </summary>
      {isOpen ? <CallBody call={call} /> : null}
      {state === "denied" && !isOpen ? <p className={styles.foot}>{outcome}</p> : null}
    </details>
  );
}

function CallBody({ call: { callId, tool, argumentsJson, output, omittedCharacters, outcome } }: { readonly call: ToolCallView }) {
  return (
    <>
      <div className={styles.foot}>
        <VisibleLines text={argumentText(argumentsJson)} />
      </div>
      {output === "" ? null : (
        <div className={styles.output} tabIndex={0} role="group" aria-label={`Output of ${tool}`}>
          <CommandOutput text={output} />
        </div>
      )}
      {omittedCharacters === 0 ? null : <EarlierOutput callId={callId} tool={tool} omittedCharacters={omittedCharacters} />}
      {outcome === "" ? null : <p className={styles.foot}>{outcome}</p>}
    </>
  );
}

function argumentText(argumentsJson: string): string {
  const entries = Object.entries(parsedArguments(argumentsJson));
  if (entries.length === 0) return argumentsJson;
  return entries
    .map(([name, value]) => (typeof value === "string" ? `${name}: ${value}` : `${name} = ${JSON.stringify(value)}`))
    .join("\n");
}
