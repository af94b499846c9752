import { Role, type Message } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Recalled } from "../loop/ports.ts";

/** What a run is reminded of: a system message of its own; `withMemory` places it. Empty: nothing was recalled. */
export function memoryMessage(recalled: Pick<Recalled, "facts" | "moreExist">): string {
  if (recalled.facts.length === 0) return "";
  const more = recalled.moreExist ? "\nMore is remembered than is shown here; memory_search, where you have it, finds it." : "";
  return `# Your Memory
From earlier sessions; it may be out of date.
${recalled.facts.map((fact) => `- ${fact.replace(/\s*\n\s*/g, " ")}`).join("\n")}${more}`;
}

/**
 * Puts what a run is reminded of right before the run's question: as late as it can stand and yet the same in every
 * turn of the run. What earlier runs said stays in front of it unchanged, so that providers' caches hold on resume.
 */
export function withMemory(messages: readonly Message[], memory: Message | undefined): Message[] {
  if (memory === undefined) return [...messages];
  const question = messages.findLastIndex(({ role }) => role === Role.USER);
  return messages.toSpliced(Math.max(question, 0), 0, memory);
}
