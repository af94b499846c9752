import type { ModelAccess } from "@hlvm/identity/delegation";
import type { Principal } from "@hlvm/identity/principal";
import type { tokenScopeWords } from "@hlvm/proto/hlvm/identity/v1/identity_words";

export type Scope = (typeof tokenScopeWords)[number];

export interface Caller {
  readonly principal: Principal;
  /** What the token that came with the request is good for; undefined where the person themselves calls. */
  readonly scopes?: readonly Scope[];
  /** The access token that came with the request; undefined where the person themselves calls. */
  readonly token?: ModelAccess;
}

/** Tells who sends a request. */
export interface Authenticator {
  /**
   * @param authorization the Authorization header, where there was one
   * @throws HlvmError `token_missing` or `token_refused`, both `unauthenticated`; `unavailable` where nobody can tell now
   */
  authenticate(authorization: string | undefined): Promise<Caller>;
}
