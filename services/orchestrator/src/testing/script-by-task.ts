import { Role, type GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { say } from "./say.ts";
import type { Behaviour, Deltas } from "./usual-behaviour.ts";

type Said = Parameters<typeof say> | ((signal: AbortSignal) => Deltas);

/** What the model says in each turn of a run, by the question that the run begins with. */
export function scriptByTask(behaviour: Behaviour, script: Readonly<Record<string, readonly Said[]>>): void {
  behaviour.generate = (request, _call, { signal }) => {
    const turns = script[taskOf(request)] ?? [["I know nothing of that."]];
    const turn = request.messages.filter(({ role }) => role === Role.ASSISTANT).length;
    const said = turns[Math.min(turn, turns.length - 1)]!;
    return typeof said === "function" ? said(signal) : say(...said);
  };
}

/** The first question in the request. */
export function taskOf({ messages }: GenerateRequest): string {
  const question = messages.find(({ role }) => role === Role.USER);
  return question?.parts.flatMap(({ part }) => (part.case === "text" ? [part.value] : [])).join("") ?? "";
}
