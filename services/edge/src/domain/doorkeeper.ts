import type { Principal } from "@hlvm/identity/principal";

/** Tells who is at the door. */
export interface Doorkeeper {
  /**
   * @param authorization the Authorization header, where there was one
   * @throws HlvmError `token_missing` or `token_refused`, both `unauthenticated`
   */
  admit(authorization: string | undefined): Promise<Principal>;
}
