import type { Principal } from "@hlvm/identity/principal";

/** Tells who sends a request. */
export interface Authenticator {
  /**
   * @param authorization the Authorization header, where there was one
   * @throws HlvmError `token_missing` or `token_refused`, both `unauthenticated`
   */
  authenticate(authorization: string | undefined): Promise<Principal>;
}
