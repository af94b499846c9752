import type { Validator } from "@bufbuild/protovalidate";
import type { MethodImplSpec } from "@connectrpc/connect";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Log } from "@hlvm/log/create-log";

/** What a server has for the calls that it answers. */
export interface ServerParts {
  /** By path. */
  readonly methods: ReadonlyMap<string, MethodImplSpec>;
  readonly verifier: TokenVerifier;
  readonly validator: Validator;
  readonly log: Log;
  readonly maximumTimeoutMilliseconds: number;
  /** Aborted when calls that are under way have to end. */
  readonly shutdownSignal: AbortSignal;
}
