import { Role, type Message } from "@hlvm/proto/hlvm/model/v1/model_pb";

/**
 * Puts what a run is reminded of right before the run's question: as late as it can stand and yet the same in every
 * turn of the run. What earlier runs said stays in front of it unchanged, so that providers' caches hold on resume.
 */
export function withMemory(messages: readonly Message[], memory: Message | undefined): Message[] {
  if (memory === undefined) return [...messages];
  const question = messages.findLastIndex(({ role }) => role === Role.USER);
  return messages.toSpliced(Math.max(question, 0), 0, memory);
}
