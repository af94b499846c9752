import { messageOf } from "@hlvm/errors/message-of";
import { eventPayload } from "../log/event-payload.ts";
import type { Recalled } from "./ports.ts";
import type { RunContext } from "./run-context.ts";

/** What recall is given of a question. */
const QUERY_LENGTH = 4_000;

/** What the run is reminded of, as a message; empty for nothing. A memory that does not answer does not stop a run. */
export async function recallMemory(question: string, run: RunContext): Promise<string> {
  if (run.stateless) return "";
  const recalled = await recall(question, run);
  if (recalled.facts.length > 0 || recalled.notice !== "")
    void run.journal.append(0, eventPayload("memoryActivity", { recalled: [...recalled.facts], notice: recalled.notice }));
  return memoryMessage(recalled);
}

async function recall(question: string, run: RunContext): Promise<Recalled> {
  try {
    return await run.mesh.memory.recall(question.slice(0, QUERY_LENGTH), run.workspace, run.signal);
  } catch (thrown) {
    run.signal.throwIfAborted();
    return { facts: [], moreExist: false, notice: `Nothing was recalled: ${messageOf(thrown)}` };
  }
}

/** What a run is reminded of: a system message of its own; `withMemory` places it. Empty: nothing was recalled. */
function memoryMessage(recalled: Recalled): string {
  if (recalled.facts.length === 0) return "";
  const more = recalled.moreExist ? "\nMore is remembered than is shown here; memory_search, where you have it, finds it." : "";
  return `# Your Memory
From earlier sessions; it may be out of date.
${recalled.facts.map((fact) => `- ${fact.replace(/\s*\n\s*/g, " ")}`).join("\n")}${more}`;
}
