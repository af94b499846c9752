import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { SandboxMovedSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { ReplicaUnreachable, replicaUnreachableInterceptor } from "./replica-unreachable.ts";
import { pauseBeforeAttempt } from "@hlvm/transport/retry-interceptor";

const MAXIMUM_HOPS = 2;
const MAXIMUM_SESSIONS = 10_000;
const MAXIMUM_TRANSPORTS = 64;
/** The lease of a replica that was killed lasts for 4 s, in which the others still name it. */
const LEASE_WAIT_MILLISECONDS = 6_000;
/** Of the pause: 200 ms at most, of which a call loses half when that lease ends. */
const MAXIMUM_DOUBLINGS = 2;

/** What is said by, or of, a replica that is gone or frozen, or that has the session no more. */
const HOLDS_IT_NO_MORE = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.NotFound]);

/** One attempt at one replica. */
type Attempt<Result> = (transport: Transport) => Result;

/**
 * Sends the calls for a session to the replica of the sandbox service that holds it. A replica that does not hold it says which
 * one does; that is remembered until that one does not answer, or says otherwise. Then the first address is asked again.
 */
export class SessionReplicas {
  /** Leads to any replica. */
  readonly first: Transport;
  readonly #interceptors: readonly Interceptor[];
  /** By session; the one used longest ago comes first. */
  readonly #addresses = new Map<string, string>();
  readonly #transports = new Map<string, Transport>();

  /** @param interceptors of the calls to each replica by its own address */
  constructor(first: Transport, interceptors: readonly Interceptor[]) {
    this.first = first;
    this.#interceptors = interceptors;
  }

  /** A unary call. @throws what `attempt` throws at the replica that holds the session */
  async call<Result>(sessionId: string, attempt: Attempt<Promise<Result>>, signal?: AbortSignal): Promise<Result> {
    const route = new Route(signal);
    for (;;) {
      try {
        return await attempt(this.#transportFor(sessionId));
      } catch (thrown) {
        await this.#follow(sessionId, thrown, route);
      }
    }
  }

  /** A call with a stream of responses; it is followed until its first response. */
  async *stream<Response>(
    sessionId: string,
    attempt: Attempt<AsyncIterable<Response>>,
    signal?: AbortSignal,
  ): AsyncGenerator<Response, void> {
    const route = new Route(signal);
    for (;;) {
      let hasBegun = false;
      try {
        for await (const response of attempt(this.#transportFor(sessionId))) {
          hasBegun = true;
          yield response;
        }
        return;
      } catch (thrown) {
        if (hasBegun) throw thrown;
        await this.#follow(sessionId, thrown, route);
      }
    }
  }

  /** Returns where the call is to be made again. @throws what was thrown, else */
  async #follow(sessionId: string, thrown: unknown, route: Route): Promise<void> {
    const error = ConnectError.from(thrown);
    const known = this.#addresses.get(sessionId);
    const next = movedTo(error);
    if (next !== undefined || HOLDS_IT_NO_MORE.has(error.code)) this.#addresses.delete(sessionId);
    if (known !== undefined && ReplicaUnreachable.is(error)) return route.unreachable(known, error);
    if (next === undefined || next === known) throw thrown;
    await route.hop(next);
    this.#remember(sessionId, next);
  }

  #transportFor(sessionId: string): Transport {
    const address = this.#addresses.get(sessionId);
    if (address === undefined) return this.first;
    this.#remember(sessionId, address);
    const transport = this.#transports.get(address) ?? createMeshTransport(address, [...this.#interceptors, replicaUnreachableInterceptor]);
    this.#transports.delete(address);
    this.#transports.set(address, transport);
    forgetOldest(this.#transports, MAXIMUM_TRANSPORTS);
    return transport;
  }

  #remember(sessionId: string, address: string): void {
    this.#addresses.delete(sessionId);
    this.#addresses.set(sessionId, address);
    forgetOldest(this.#addresses, MAXIMUM_SESSIONS);
  }
}

/** How far one call has been followed. */
class Route {
  readonly #signal: AbortSignal | undefined;
  readonly #endsAt = performance.now() + LEASE_WAIT_MILLISECONDS;
  readonly #gone = new Set<string>();
  #hops = 0;
  #pauses = 0;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  unreachable(address: string, error: ReplicaUnreachable): void {
    this.#gone.add(address);
    this.#hops = 0;
    if (performance.now() >= this.#endsAt) throw error;
  }

  /** Waits before it goes again to one that did not answer: others name it until its lease has ended. */
  async hop(address: string): Promise<void> {
    if (++this.#hops > MAXIMUM_HOPS)
      throw new ConnectError("The session moved from replica to replica while it was called.", Code.Unavailable);
    if (this.#gone.has(address)) await pauseBeforeAttempt(Math.min(this.#pauses++, MAXIMUM_DOUBLINGS), this.#signal);
  }
}

/** Only the sandbox service's own answer names an address, and only one that a transport can be made of. */
function movedTo(error: ConnectError): string | undefined {
  const [moved] = error.findDetails(SandboxMovedSchema);
  if (moved === undefined || !URL.canParse(moved.address)) return undefined;
  return ["http:", "https:"].includes(new URL(moved.address).protocol) ? moved.address : undefined;
}

function forgetOldest(entries: Map<string, unknown>, maximum: number): void {
  const [oldest] = entries.keys();
  if (entries.size > maximum) entries.delete(oldest!);
}
