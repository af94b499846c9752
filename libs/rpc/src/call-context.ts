import { createContextKey, type CallOptions, type HandlerContext } from "@connectrpc/connect";
import type { Delegation } from "@hlvm/identity/delegation";
import type { Principal } from "@hlvm/identity/principal";
import type { ServiceName } from "@hlvm/identity/service-name";
import type { VerifiedCaller } from "@hlvm/identity/token-verifier";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { currentTraceId } from "@hlvm/telemetry/trace-context";
import type { NodeHandlerFn } from "./node-handler.ts";

/** Who is calling, and what the call brings along: everything a domain function needs to know of the transport. */
export interface CallContext {
  readonly principal: Principal;
  /** Where a run calls: what the person whose run it is lets it do. Absent where the person calls, through the edge. */
  readonly delegation?: Delegation;
  /** 32 hex digits, the same through the whole mesh (W3C trace context). */
  readonly traceId: string;
  /** Aborted when the caller goes away or its deadline passes. */
  readonly signal: AbortSignal;
  /** What is left of the caller's deadline; undefined where it set none. */
  readonly remainingMilliseconds: () => number | undefined;
}

type Caller = Pick<CallContext, "principal" | "delegation" | "traceId">;

/** What a call to another service carries. */
export interface OutgoingCall extends Pick<CallContext, "remainingMilliseconds"> {
  /** Minted for the service that is called. */
  readonly token: string;
  readonly signal?: AbortSignal;
}

export const callerKey = createContextKey<Caller | undefined>(undefined, { description: "the verified caller" });

/** The HTTP request that a call came with. */
export const requestKey = createContextKey<Parameters<NodeHandlerFn>[0] | undefined>(undefined, { description: "the HTTP request" });

export const serviceCallerKey = createContextKey<string | undefined>(undefined, { description: "the service that calls in its own name" });

/** Lets nobody go on but this service, calling in its own name. @throws HlvmError `other_service` */
export function demandService(context: HandlerContext, ...services: readonly ServiceName[]): void {
  if (services.some((service) => context.values.get(serviceCallerKey) === service)) return;
  throw new HlvmError({
    code: "permission_denied",
    reason: "other_service",
    message: `Only the ${services.join(" and the ")} may call this.`,
  });
}

/** The context of a call that is being handled. */
export function callContext(context: HandlerContext): CallContext {
  const caller = context.values.get(callerKey);
  if (caller === undefined)
    throw new HlvmError({ code: "unauthenticated", reason: "token_refused", message: "The call carries no token." });
  return { ...caller, signal: context.signal, remainingMilliseconds: () => context.timeoutMs() };
}

/** The caller of the call that is being handled, and its trace. */
export function callerOf(verified: VerifiedCaller): Caller {
  return { ...verified, traceId: currentTraceId() };
}

/** Options of a call to another service: its token, deadline and, where there is one, cancellation. The transport adds the trace. */
export function outgoing({ token, signal, remainingMilliseconds }: OutgoingCall): CallOptions {
  return { headers: { authorization: `Bearer ${token}` }, signal, timeoutMs: remainingMilliseconds() };
}
