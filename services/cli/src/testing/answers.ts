import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Script } from "./scripted-edge.ts";

/** The model answers, and the run is complete. */
export const answers: Script = async (edge) => {
  edge.append({ case: "messageDelta", value: { text: "It says " } });
  edge.append({ case: "messageDelta", value: { text: "hello." } });
  edge.append({ case: "assistantMessage", value: { text: "It says hello." } });
  edge.stop(StopReason.COMPLETED, { text: "It says hello." });
};
