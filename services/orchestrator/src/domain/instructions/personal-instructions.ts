import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { InstructionOrigin, InstructionState } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";

/** By what name people know it; where it lies is their client's affair. */
const NAME = "~/.hlvm/HLVM.md";

/**
 * What a person wants in every session, as their client sent it along with the question: it is in the log with the question,
 * so that whoever takes the run over has it too.
 */
export function personalInstructions(given: string, secrets: Pick<RunSecrets, "redact">): EventPayload[] {
  if (given.trim() === "") return [];
  const file = {
    path: NAME,
    origin: InstructionOrigin.PERSON,
    state: InstructionState.LOADED,
    sha256: sha256Hex(given),
    text: secrets.redact(given),
  };
  return [eventPayload("instructionsLoaded", { files: [file] })];
}
