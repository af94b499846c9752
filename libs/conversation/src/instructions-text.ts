import { InstructionState } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { InstructionsItem } from "./item.ts";

/** Which instructions the model has, which it has not, and what else is said of them, in one line. */
export function instructionsText({ files, notice }: InstructionsItem): string {
  const named = (isLoaded: boolean): string =>
    files
      .filter(({ state }) => (state === InstructionState.LOADED) === isLoaded)
      .map(({ path }) => path)
      .join(", ");
  const [loaded, left] = [named(true), named(false)];
  const parts = [loaded === "" ? "" : `Instructions read: ${loaded}`, left === "" ? "" : `left out: ${left}`, notice];
  return parts.filter((part) => part !== "").join("; ");
}
