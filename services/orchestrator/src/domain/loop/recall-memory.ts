import { messageOf } from "@hlvm/errors/message-of";
import { eventPayload } from "../log/event-payload.ts";
import type { Recalled } from "./ports.ts";
import type { RunContext } from "./run-context.ts";

/** What recall is given of a question. */
const QUERY_LENGTH = 4_000;

/** Puts what the run is reminded of into its log and its context. A memory that does not answer does not stop a run. */
export async function recallMemory(question: string, run: RunContext): Promise<void> {
  if (run.stateless) return;
  const recalled = await recall(question, run);
  const { facts, moreExist, notice } = recalled;
  if (facts.length === 0 && notice === "") return;
  const payload = eventPayload("memoryActivity", { recalled: [...facts], notice, moreExist });
  void run.journal.append(0, payload);
  run.context.add({ runId: run.runId, turn: 0, payload });
}

async function recall(question: string, run: RunContext): Promise<Recalled> {
  try {
    await registerProject(run);
    return await run.mesh.memory.recall({ ...run, question: question.slice(0, QUERY_LENGTH) }, run.signal);
  } catch (thrown) {
    run.signal.throwIfAborted();
    return { facts: [], moreExist: false, notice: `Nothing was recalled: ${messageOf(thrown)}` };
  }
}

/** Where it does not succeed, the project is what the path was to this person before. */
async function registerProject(run: RunContext): Promise<void> {
  const identity = await run.instructions.identity;
  if (identity === undefined) return;
  try {
    await run.mesh.memory.registerProject(run.workspace, identity, run.signal);
  } catch {
    run.signal.throwIfAborted();
  }
}
