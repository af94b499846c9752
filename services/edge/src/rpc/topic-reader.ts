import { setTimeout as delay } from "node:timers/promises";
import { equals, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { createClient, type CallOptions } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { ListApprovalsResponseSchema, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ListSessionsResponseSchema, SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { EndedSchema, SessionTopic, Topic, WatchResponseSchema } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { serverStream } from "@hlvm/transport/server-stream";
import type { Backend, Backends } from "./backends.ts";
import { readMemoryTopic } from "./memory-topic.ts";
import { passedOnError } from "./passed-on-error.ts";

const CALL_DEADLINE_MILLISECONDS = 15_000;
const NO_DEADLINE = 0;
/** So often the lists are looked at: no service tells of their changes. Somebody waits for an answer to an approval. */
const SESSIONS_MILLISECONDS = 1_000;
const APPROVALS_MILLISECONDS = 500;

export type TopicData = Extract<
  NonNullable<MessageInitShape<typeof WatchResponseSchema>["frame"]>,
  { case: "session" | "sessions" | "approvals" | "memory" | "caughtUp" }
>;

/** What a topic has, asked for in one person's name. */
export class TopicReader {
  readonly #backends: Backends;
  readonly #minter: TokenMinter;
  readonly #principal: Principal;
  readonly #signal: AbortSignal;

  constructor(backends: Backends, minter: TokenMinter, principal: Principal, signal: AbortSignal) {
    this.#backends = backends;
    this.#minter = minter;
    this.#principal = principal;
    this.#signal = signal;
  }

  /** @throws HlvmError, or what the signal was aborted with */
  read({ topic }: Topic): AsyncGenerator<TopicData, void> {
    switch (topic.case) {
      case "session":
        return this.#session(topic.value);
      case "sessions":
        return this.#list({
          schema: ListSessionsResponseSchema,
          milliseconds: SESSIONS_MILLISECONDS,
          backend: this.#backends.orchestrator,
          get: (options) =>
            createClient(SessionService, this.#backends.orchestrator.transport).listSessions(topic.value.list ?? {}, options),
          data: (list) => ({ case: "sessions", value: { list } }),
        });
      case "approvals":
        return this.#list({
          schema: ListApprovalsResponseSchema,
          milliseconds: APPROVALS_MILLISECONDS,
          backend: this.#backends.policy,
          get: (options) => createClient(PolicyService, this.#backends.policy.transport).listApprovals(topic.value.list ?? {}, options),
          data: (list) => ({ case: "approvals", value: { list } }),
        });
      case "memory":
        return readMemoryTopic(topic.value, {
          backends: this.#backends,
          signal: this.#signal,
          options: (backend, milliseconds) => this.#options(backend, milliseconds),
        });
      default:
        throw new HlvmError({
          code: "invalid_argument",
          reason: "topic_unknown",
          message: "A topic is of a kind that this edge does not know.",
        });
    }
  }

  async *#session({ sessionId, fromSequence }: SessionTopic): AsyncGenerator<TopicData, void> {
    const backend = this.#backends.orchestrator;
    try {
      const { session } = await createClient(SessionService, backend.transport).getSession({ sessionId }, this.#options(backend));
      const last = session?.lastSequence ?? 0n;
      let isCaughtUp = last < fromSequence || last === 0n;
      if (isCaughtUp) yield { case: "caughtUp", value: {} };
      const request = { sessionId, fromSequence, follow: true };
      const options = this.#options(backend, NO_DEADLINE);
      for await (const { events } of serverStream(backend.transport, SessionService.method.watch, request, options)) {
        yield { case: "session", value: { events } };
        if (isCaughtUp || (events.at(-1)?.sequence ?? 0n) < last) continue;
        isCaughtUp = true;
        yield { case: "caughtUp", value: {} };
      }
    } catch (thrown) {
      throw fromConnectError(passedOnError(thrown, backend.name, this.#signal));
    }
  }

  /** Again whenever it has changed. A service that is away for a moment is asked again at the next look. */
  async *#list<Schema extends DescMessage>({
    schema,
    milliseconds,
    backend,
    get,
    data,
  }: ListTopic<Schema>): AsyncGenerator<TopicData, void> {
    let before: MessageShape<Schema> | undefined;
    for (;;) {
      try {
        const now = await get(this.#options(backend));
        const isFirst = before === undefined;
        if (isFirst || !equals(schema, before!, now)) yield data(now);
        if (isFirst) yield { case: "caughtUp", value: {} };
        before = now;
      } catch (thrown) {
        const error = fromConnectError(passedOnError(thrown, backend.name, this.#signal));
        if (error.code !== "unavailable") throw error;
      }
      await delay(milliseconds, undefined, { signal: this.#signal });
    }
  }

  #options({ name }: Backend, milliseconds = CALL_DEADLINE_MILLISECONDS): CallOptions {
    const token = this.#minter.mint(this.#principal, name);
    return outgoing({ token, signal: this.#signal, remainingMilliseconds: () => milliseconds });
  }
}

interface ListTopic<Schema extends DescMessage> {
  readonly schema: Schema;
  readonly milliseconds: number;
  readonly backend: Backend;
  readonly get: (options: CallOptions) => Promise<MessageShape<Schema>>;
  readonly data: (list: MessageShape<Schema>) => TopicData;
}

/** Why a topic ended, in the words of errors. */
export function endedBecause(thrown: unknown): MessageInitShape<typeof EndedSchema> {
  if (thrown instanceof HlvmError) return { reason: thrown.reason, message: thrown.message };
  return { reason: "internal", message: "Something went wrong inside the edge." };
}
