import type {
  AssistantItem,
  CommentItem,
  ErrorItem,
  InfoItem,
  MemoryItem,
  PlanItem,
  ThinkingItem,
  UserItem,
  WorkerItem,
} from "@hlvm/conversation/item";
import {
  Bot,
  Brain,
  ChevronRight,
  CircleCheck,
  CircleDashed,
  Ellipsis,
  Info,
  ListChecks,
  MessageCircle,
  OctagonAlert,
  Paperclip,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { Markdown } from "../parts/markdown.tsx";
import parts from "../parts/parts.module.css";
import { RelativeTime } from "../parts/relative-time.tsx";
import { shownProse } from "../parts/shown-text.ts";
import { StateMark } from "../parts/state-mark.tsx";
import { countWord, modeWord, personName } from "../parts/words.ts";
import styles from "./items.module.css";

export function UserCard({ item: { author, text, at, attachments, isPending } }: { readonly item: UserItem }) {
  const name = personName(author);
  return (
    <article className={`${styles.card} ${styles.user}`} aria-label={`${name} said`}>
      <div className={styles.userHead}>
        <span className={styles.face} aria-hidden="true">
          {name.slice(0, 1)}
        </span>
        <strong>{name}</strong>
        <RelativeTime at={at} />
        {isPending ? <span className={styles.pending}>queued; read at the next turn</span> : null}
      </div>
      <p className={styles.userText}>{shownProse(text)}</p>
      {attachments.length === 0 ? null : (
        <ul className={styles.chips}>
          {attachments.map(({ path }, at) => (
            <li key={at} className={parts.chip}>
              <Icon of={Paperclip} size={14} /> {path}
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

export function AssistantText({ item: { text, isOpen, isCut } }: { readonly item: AssistantItem }) {
  return (
    <article className={styles.row} aria-label="Answer" aria-busy={isOpen}>
      <Icon of={Bot} />
      <Markdown text={text} isOpen={isOpen} />
      {isCut ? <p className={styles.quiet}>This was cut on its way, and the model was asked again.</p> : null}
    </article>
  );
}

export function ThinkingLine({ item: { text, isOpen } }: { readonly item: ThinkingItem }) {
  return (
    <Quiet icon={Ellipsis} line={isOpen ? `Thinking… ${text.slice(-120)}` : `Thought: ${text}`}>
      {text}
    </Quiet>
  );
}

export function MemoryLine({ item: { recalled, written, withheld, notice } }: { readonly item: MemoryItem }) {
  const words = [
    recalled.length === 0 ? "" : `Recalled ${countWord(recalled.length, "fact")}`,
    written.length === 0 ? "" : `Remembered ${countWord(written.length, "fact")}`,
    withheld === 0 ? "" : `${countWord(withheld, "fact")} of another person`,
    notice,
  ];
  const facts = [...recalled, ...written];
  return (
    <Quiet icon={Brain} line={`${words.filter((word) => word !== "").join(" · ")}${facts[0] === undefined ? "" : ` “${facts[0]}”`}`}>
      <ul>
        {facts.map((fact, at) => (
          <li key={at}>{fact}</li>
        ))}
      </ul>
    </Quiet>
  );
}

export function CommentCard({ item: { author, text, at } }: { readonly item: CommentItem }) {
  const name = personName(author);
  return (
    <article className={`${styles.card} ${styles.comment}`} aria-label={`${name} commented`}>
      <div className={styles.userHead}>
        <Icon of={MessageCircle} />
        <strong>{name}</strong>
        <RelativeTime at={at} />
        <span className={styles.pending}>a comment; the model does not see it</span>
      </div>
      <p className={styles.userText}>{shownProse(text)}</p>
    </article>
  );
}

const WORKER_STATES: Readonly<Record<WorkerItem["state"], string>> = { running: "started", succeeded: "done", failed: "failed" };

export function WorkerLine({ item: { agentType, task, state, turns, filesTouched, childSessionId } }: { readonly item: WorkerItem }) {
  const ended = state === "running" ? "" : `, ${countWord(turns, "turn")}`;
  return (
    <Quiet icon={Bot} line={`Worker ${WORKER_STATES[state]}: ${agentType}${ended}`}>
      <p>{shownProse(task)}</p>
      {filesTouched.length === 0 ? null : (
        <ul>
          {filesTouched.map((path) => (
            <li key={path}>{path}</li>
          ))}
        </ul>
      )}
      <SessionLink sessionId={childSessionId} />
    </Quiet>
  );
}

export function InfoLine({ item: { text, detail, otherSessionId } }: { readonly item: InfoItem }) {
  if (detail === "" && otherSessionId === "") return <PlainLine text={text} />;
  return (
    <Quiet icon={Info} line={text}>
      {detail}
      {otherSessionId === "" ? null : <SessionLink sessionId={otherSessionId} />}
    </Quiet>
  );
}

export function PlainLine({ text }: { readonly text: string }) {
  return (
    <p className={`${styles.row} ${styles.quiet}`}>
      <Icon of={Info} />
      {text}
    </p>
  );
}

function SessionLink({ sessionId }: { readonly sessionId: string }) {
  return (
    <p>
      <Link href={`/s/${sessionId}`}>Open session {sessionId.slice(0, 8)}</Link>
    </p>
  );
}

export function ErrorCard({ item: { message, advice } }: { readonly item: ErrorItem }) {
  return (
    <article className={`${styles.card} ${styles.error}`} aria-label="Error">
      <div className={styles.relative}>
        <Icon of={OctagonAlert} />
        <p>{message}</p>
        {advice === "" ? null : <p className={parts.advice}>{advice}</p>}
      </div>
    </article>
  );
}

export function PlanCard({ item: { text, steps, state, rejection, mode } }: { readonly item: PlanItem }) {
  return (
    <article className={styles.card} aria-label="Plan">
      <div className={styles.askedHead}>
        <Icon of={ListChecks} />
        <strong>Plan</strong>
        <StateMark tone={state === "accepted" ? "ok" : state === "rejected" ? "danger" : "warn"}>
          {state === "accepted" ? `accepted, mode ${modeWord(mode)}` : state}
        </StateMark>
      </div>
      <div className={styles.askedBody}>
        {state === "accepted" && steps.length > 0 ? (
          <ol className={styles.steps}>
            {steps.map((step, at) => (
              <li key={at}>
                <Icon of={step.isCompleted ? CircleCheck : CircleDashed} className={step.isCompleted ? parts.ok : undefined} />
                <span>
                  {step.text}
                  <span className={parts.visuallyHidden}>{step.isCompleted ? ", done" : ", to do"}</span>
                </span>
              </li>
            ))}
          </ol>
        ) : (
          <Markdown text={text} isOpen={false} />
        )}
        {rejection === "" ? null : <p>Rejected: {shownProse(rejection)}</p>}
      </div>
    </article>
  );
}

/** One line, which opens. */
function Quiet({ icon, line, children }: { readonly icon: LucideIcon; readonly line: string; readonly children: ReactNode }) {
  return (
    <details className={styles.quiet}>
      <summary>
        <Icon of={icon} />
        <span>{shownProse(line.replaceAll(/\s+/g, " "))}</span>
        <Icon of={ChevronRight} />
      </summary>
      <div className={styles.opened}>{children}</div>
    </details>
  );
}
