import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { sessionState } from "../commands/session-list.ts";
import { printableLine } from "../terminal/printable.ts";

const TITLE_CHARACTERS = 60;

/** The workers of a session and theirs as a tree, the first that was started on top; empty where it has none. */
export function workerTree(sessionId: string, workers: readonly Session[]): string {
  const rows = (parentId: string, indent: string): string[] => {
    const own = workers.filter(({ parentSessionId }) => parentSessionId === parentId).toSorted(byBeginning);
    return own.flatMap((worker, index) => {
      const isLast = index === own.length - 1;
      const facts = [worker.agentType, worker.sessionId, sessionState(worker), printableLine(worker.title, TITLE_CHARACTERS)];
      return [`${indent}${isLast ? "└─" : "├─"} ${facts.join(" · ")}`, ...rows(worker.sessionId, `${indent}${isLast ? "   " : "│  "}`)];
    });
  };
  const tree = rows(sessionId, "");
  return tree.length === 0 ? "" : `workers\n${tree.join("\n")}\n`;
}

function byBeginning(one: Session, other: Session): number {
  const at = ({ createdAt }: Session): number => Number(createdAt?.seconds ?? 0n) * 1_000 + Math.floor((createdAt?.nanos ?? 0) / 1_000_000);
  return at(one) - at(other);
}
