import type { BlockSession } from "./memory-block.ts";

/** A session with an agent that a prompt is pointed to. */
export interface HookSession {
  readonly tool: string;
  readonly session: string;
  readonly title: string;
  /** 2026-11-24; empty where its tool does not say. */
  readonly day: string;
  /** The place of the turn that fits. */
  readonly turn: number;
}

/** As many turns as the command shows without being told from where. */
const SHOWN_AT_FIRST = 50;
/** What a shell takes as it is, and is no flag. */
const PLAIN = /^\w[\w.:/-]{0,79}$/;

/** Its name among what a conversation was shown. */
export function sessionKey({ tool, session }: Pick<HookSession, "tool" | "session">): string {
  return `${tool}/${session}`;
}

/** The command that shows it, and what it was about; undefined where its name is none that a shell takes. */
export function sessionPointer({ tool, session, title, day, turn }: HookSession): BlockSession | undefined {
  if (!PLAIN.test(tool) || !PLAIN.test(session)) return undefined;
  const from = turn < SHOWN_AT_FIRST ? "" : ` --from ${turn}`;
  // A shell takes the rest of the line for a comment.
  return { command: `hlvm memory sessions show ${tool} ${session}${from} #${day === "" ? "" : ` ${day}`}`, title };
}
