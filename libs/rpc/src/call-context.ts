import { randomUUID } from "node:crypto";
import { createContextKey, type CallOptions, type HandlerContext } from "@connectrpc/connect";
import type { Delegation } from "@hlvm/identity/delegation";
import type { Principal } from "@hlvm/identity/principal";
import type { VerifiedCaller } from "@hlvm/identity/token-verifier";
import { HlvmError } from "@hlvm/errors/hlvm-error";

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

const SPAN_ID_DIGITS = 16;

type Caller = Pick<CallContext, "principal" | "delegation" | "traceId">;

/** What a call to another service carries. */
export interface OutgoingCall extends Pick<CallContext, "traceId" | "remainingMilliseconds"> {
  /** Minted for the service that is called. */
  readonly token: string;
  readonly signal?: AbortSignal;
}

export const callerKey = createContextKey<Caller | undefined>(undefined, { description: "the verified caller" });

/** The context of a call that is being handled. */
export function callContext(context: HandlerContext): CallContext {
  const caller = context.values.get(callerKey);
  if (caller === undefined)
    throw new HlvmError({ code: "unauthenticated", reason: "token_refused", message: "The call carries no token." });
  return { ...caller, signal: context.signal, remainingMilliseconds: () => context.timeoutMs() };
}

/** @param traceparent the header of that name; without a good one a trace begins here */
export function callerOf(verified: VerifiedCaller, traceparent: string | null | undefined): Caller {
  const traceId = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(traceparent ?? "")?.[1];
  return { ...verified, traceId: traceId ?? newTraceId() };
}

/** Options of a call to another service: its token, trace, deadline and, where there is one, cancellation. */
export function outgoing({ token, traceId, signal, remainingMilliseconds }: OutgoingCall): CallOptions {
  return {
    headers: { authorization: `Bearer ${token}`, traceparent: traceparent(traceId) },
    signal,
    timeoutMs: remainingMilliseconds(),
  };
}

export function newTraceId(): string {
  return randomHex();
}

function traceparent(traceId: string): string {
  return `00-${traceId}-${randomHex().slice(0, SPAN_ID_DIGITS)}-01`;
}

/** 32 hex digits. Node keeps random bytes ready for UUIDs; asking the kernel each time costs a tenth of a millisecond. */
function randomHex(): string {
  return randomUUID().replaceAll("-", "");
}
