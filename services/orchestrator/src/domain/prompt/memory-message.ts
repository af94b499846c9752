import type { Recalled } from "../loop/ports.ts";

/** What a run is reminded of: a system message of its own; `withMemory` places it. Empty: nothing was recalled. */
export function memoryMessage(recalled: Pick<Recalled, "facts" | "moreExist">): string {
  if (recalled.facts.length === 0) return "";
  const more = recalled.moreExist ? "\nMore is remembered than is shown here; memory_search, where you have it, finds it." : "";
  return `# Your Memory
From earlier sessions; it may be out of date.
${recalled.facts.map((fact) => `- ${fact.replace(/\s*\n\s*/g, " ")}`).join("\n")}${more}`;
}
