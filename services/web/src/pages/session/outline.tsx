import type { Item } from "@hlvm/conversation/item";
import { TodoStatus, type TodoItem } from "@hlvm/proto/hlvm/session/v1/event_pb";
import {
  Bot,
  ChevronDown,
  ChevronUp,
  CircleCheck,
  CircleDashed,
  CircleDot,
  Hourglass,
  MessageSquare,
  OctagonAlert,
  type LucideIcon,
} from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import { sessionState } from "../../parts/words.ts";
import { usePage } from "../../store/page-context.ts";
import styles from "./session.module.css";

interface OutlineProps {
  readonly sessionId: string;
  readonly items: readonly Item[];
  readonly todo: readonly TodoItem[];
  readonly onChoose: (key: string) => void;
  readonly onStep: (by: 1 | -1) => void;
}

const TODO_ICONS: Readonly<Record<number, LucideIcon>> = {
  [TodoStatus.COMPLETED]: CircleCheck,
  [TodoStatus.IN_PROGRESS]: CircleDot,
};

/** What was asked, what is to be done, who works on it, and where somebody should look. */
export const Outline = memo(function Outline({ sessionId, items, todo, onChoose, onStep }: OutlineProps) {
  const marks = items.flatMap((item) => markOf(item) ?? []);
  return (
    <nav className={styles.outline} aria-label="In this session">
      <div className={styles.outlineHead}>
        <h2>Asked</h2>
        <Button look="bare" data-key="[" aria-label="The question before" onClick={() => onStep(-1)}>
          <Icon of={ChevronUp} size={14} />
        </Button>
        <Button look="bare" data-key="]" aria-label="The next question" onClick={() => onStep(1)}>
          <Icon of={ChevronDown} size={14} />
        </Button>
      </div>
      <ul>
        {items.map((item) =>
          item.kind !== "user" ? null : (
            <li key={item.key}>
              <button type="button" onClick={() => onChoose(item.key)} title={item.text}>
                <Icon of={MessageSquare} />
                <span>{item.text.split("\n", 1)[0]}</span>
              </button>
            </li>
          ),
        )}
      </ul>
      {todo.length === 0 ? null : <h2>To do</h2>}
      <ul>
        {todo.map(({ text, status }, at) => (
          <li key={at}>
            <div title={text}>
              <Icon of={TODO_ICONS[status] ?? CircleDashed} className={status === TodoStatus.COMPLETED ? parts.ok : undefined} />
              <span>{text}</span>
            </div>
          </li>
        ))}
      </ul>
      <Workers sessionId={sessionId} changes={workerChanges(items)} />
      {marks.length === 0 ? null : <h2>Marks</h2>}
      <ul>
        {marks.map(({ key, icon, text, tone }) => (
          <li key={key}>
            <button type="button" onClick={() => onChoose(key)}>
              <Icon of={icon} className={tone} />
              <span>{text}</span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
});

/** Grows with each worker that begins or ends. */
function workerChanges(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + (item.kind !== "worker" ? 0 : item.state === "running" ? 1 : 2), 0);
}

function Workers({ sessionId, changes }: { readonly sessionId: string; readonly changes: number }) {
  const { clients } = usePage();
  const { value } = useCall(`${sessionId} ${changes}`, async (signal) =>
    changes === 0 ? undefined : await clients.sessions.listSessions({ workersOf: sessionId, withWorkers: true }, { signal }),
  );
  if (value === undefined || value.sessions.length === 0) return null;
  return (
    <>
      <h2>Agents</h2>
      <ul>
        {value.sessions.map((session) => (
          <li key={session.sessionId}>
            <Link
              href={`/s/${session.sessionId}`}
              title={session.title}
              style={{ paddingLeft: 8 + 12 * Math.max(0, session.workerDepth - 1) }}
            >
              <Icon of={Bot} />
              <span>
                {session.agentType} · {sessionState(session, false).word}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function markOf(
  item: Item,
): { readonly key: string; readonly icon: LucideIcon; readonly text: string; readonly tone: string | undefined } | undefined {
  const { key } = item;
  if (item.kind === "error") return { key, icon: OctagonAlert, text: item.message, tone: parts.danger };
  if (item.kind === "approval" && item.state === "pending")
    return { key, icon: Hourglass, text: `Asks: ${item.approval.tool}`, tone: parts.warn };
  if (item.kind !== "tools") return undefined;
  const failed = item.calls.find(({ state }) => state === "failed" || state === "denied");
  return failed && { key, icon: OctagonAlert, text: `${failed.tool} ${failed.state}`, tone: parts.danger };
}
