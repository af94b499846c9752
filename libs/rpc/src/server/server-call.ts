import type { ServerHttp2Stream } from "node:http2";
import type { Validator } from "@bufbuild/protovalidate";
import type { MethodImplSpec } from "@connectrpc/connect";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Log } from "@hlvm/log/create-log";
import type { CallHandling } from "./call-handling.ts";

/** A call to be answered, and what its server has for that. */
export interface ServerCall {
  readonly stream: ServerHttp2Stream;
  readonly handling: CallHandling;
  readonly authorization: string | undefined;
  readonly server: ServerParts;
}

export interface ServerParts {
  /** By path. */
  readonly methods: ReadonlyMap<string, MethodImplSpec>;
  readonly verifier: TokenVerifier;
  readonly validator: Validator;
  readonly log: Log;
  readonly maximumMessageBytes: number;
  readonly maximumTimeoutMilliseconds: number;
  /** Aborted when calls that are under way have to end. */
  readonly shutdownSignal: AbortSignal;
}
