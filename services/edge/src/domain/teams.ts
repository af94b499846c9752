import type { Principal } from "@hlvm/identity/principal";

/** Tells which teams a person is in. */
export interface Teams {
  /** @throws HlvmError `unavailable` where nobody can tell now */
  of(principal: Principal): Promise<readonly string[]>;
}
