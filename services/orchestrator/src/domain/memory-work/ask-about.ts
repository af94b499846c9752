import type { Delegation } from "@hlvm/identity/delegation";
import { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { callModel, type DoorPorts } from "../door/call-model.ts";
import type { WorkItem } from "./model-work.ts";
import { workRequest } from "./work-request.ts";

/** Longer than that a model takes for nothing of it. */
export const MEMORY_CALL_MILLISECONDS = 300_000;
/** Of an answer; no good one is longer. */
const MOST_CHARACTERS = 60_000;

/** By what right it is asked. */
export interface AskingFor {
  /** Of this one call. */
  readonly delegation: Delegation;
  /** The same as it was signed. */
  readonly signed: string;
}

/** Asks a model about one item. The call counts against the person's budgets, and is on record as theirs. */
export async function askAbout(
  { delegation, signed }: AskingFor,
  model: string,
  item: Pick<WorkItem, "kind" | "text">,
  ports: DoorPorts,
  signal: AbortSignal,
): Promise<{ readonly model: string; readonly answer: string }> {
  const access = delegation.modelAccess ?? { tokenId: "", allowedModels: [] };
  const caller = { delegation, signed, access, door: ModelDoor.MEMORY, provider: "" };
  const limits = { ...ports.limits, modelMilliseconds: Math.min(ports.limits.modelMilliseconds, MEMORY_CALL_MILLISECONDS) };
  let answer = "";
  let answered = model;
  for await (const event of callModel(caller, workRequest(model, item), { ...ports, limits }, signal)) {
    if (event.case === "started") answered = event.model;
    if (event.case === "textDelta" && answer.length < MOST_CHARACTERS) answer += event.value;
  }
  return { model: answered, answer };
}
