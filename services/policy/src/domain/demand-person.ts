import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Delegation } from "@hlvm/identity/delegation";

/** No run answers what it was asked itself, whatever its owner may do. @throws HlvmError `person_needed` where a run calls */
export function demandPerson(delegation: Delegation | undefined): void {
  if (delegation === undefined) return;
  throw new HlvmError({
    code: "permission_denied",
    reason: "person_needed",
    message: "Only a person may do this, not a run in their name.",
    advice: "Do it in a terminal or on the web page, through the edge.",
  });
}
