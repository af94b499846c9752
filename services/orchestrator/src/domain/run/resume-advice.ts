import type { SessionFacts } from "../session/session.ts";

/** How a person goes on after a run has ended before its work was done. */
export function resumeAdvice({ sessionId, stateless }: Pick<SessionFacts, "sessionId" | "stateless">): string {
  return stateless ? "Ask again: a stateless session cannot be gone on with." : `Go on with \`hlvm ask --resume ${sessionId} …\`.`;
}
