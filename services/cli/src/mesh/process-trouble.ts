import { lastLines } from "@hlvm/mesh/last-lines";
import type { MeshState, ServiceState } from "@hlvm/mesh/mesh-state";
import type { Screen } from "../terminal/screen.ts";

/** What is wrong with a process of the mesh, in a sentence or two; empty where it is up. */
export function processTrouble({ name, state, since, reason, nextAttempt }: ServiceState): string {
  if (state === "up") return "";
  if (state === "not_answering") return `${name} has not answered since ${since}. Should it stay silent, it is restarted.`;
  const next = nextAttempt === undefined ? "It is being started right now." : `It is started again at ${nextAttempt}.`;
  return `${name} is down since ${since}${reason === undefined ? "" : `: ${reason.replace(/\.$/, "")}`}. ${next}`;
}

/** Warns a person, before their command calls the mesh, of what may not work. */
export function noteTrouble(state: MeshState | undefined, screen: Screen): void {
  for (const trouble of (state?.services ?? []).map(processTrouble))
    if (trouble !== "") screen.note(`${trouble} \`hlvm status\` tells more.`, "warning");
}

/** The last lines of a process's log; none where it cannot be read. */
export function logTail({ logFile }: ServiceState): string[] {
  try {
    return lastLines(logFile, 0)
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
