import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { toConnectError } from "@hlvm/connect-errors/to-connect-error";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import {
  DrainInstanceResponseSchema,
  DrainReason,
  InstanceState,
  ListPoolResponseSchema,
  PoolService,
  ResumeInstanceResponseSchema,
  type DrainInstanceRequest,
  type PoolInstanceSchema,
  type ResumeInstanceRequest,
} from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { Drain, LlamaInstance } from "../adapters/llama/llama-instance.ts";
import type { LlamaPool } from "../adapters/llama/llama-pool.ts";
import type { Replica } from "../domain/pool/slot-share.ts";

const REASONS: Readonly<Record<Drain["kind"], DrainReason>> = {
  asked: DrainReason.ASKED,
  vanished: DrainReason.VANISHED,
  distrusted: DrainReason.DISTRUSTED,
};

export interface PoolPorts {
  /** Undefined where no llama-server is set up. */
  readonly pool: LlamaPool | undefined;
  readonly replica: Replica;
  readonly log: Log;
}

/** What a person sees of the llama-servers, and how one is taken out of use. */
export function poolRoutes({ pool, replica, log }: PoolPorts): (router: ConnectRouter) => void {
  const change = async (url: string, context: HandlerContext, make: (instance: LlamaInstance, who: string) => void) => {
    try {
      const who = callContext(context).principal.id;
      const instance = (await pool?.instances())?.find(({ name }) => name === url);
      if (instance === undefined) throw unknownInstance(url);
      make(instance, who);
      log.warn({ url, who, draining: instance.drain?.why ?? "" }, "a llama-server was drained or resumed");
      pool?.serveQueue();
      return { instance: encodeInstance(instance) };
    } catch (thrown) {
      throw toConnectError(thrown);
    }
  };
  return (router) => {
    router.service(PoolService, {
      listPool: async () =>
        create(ListPoolResponseSchema, {
          instances: ((await pool?.instances()) ?? []).map(encodeInstance),
          queuedInteractive: pool?.queued("interactive") ?? 0,
          queuedBatch: pool?.queued("batch") ?? 0,
          replica: replica.index + 1,
          replicas: replica.count,
          discoveryError: pool?.problem ?? "",
        }),
      drainInstance: async ({ url }: DrainInstanceRequest, context) => {
        const drain = (instance: LlamaInstance, who: string): void => {
          instance.drain ??= { kind: "asked", why: `${who} drained it`, since: new Date() };
        };
        return create(DrainInstanceResponseSchema, await change(url, context, drain));
      },
      resumeInstance: async ({ url }: ResumeInstanceRequest, context) => {
        const resume = (instance: LlamaInstance): void => {
          if (instance.drain?.kind === "vanished") throw vanished(url);
          instance.drain = undefined;
        };
        return create(ResumeInstanceResponseSchema, await change(url, context, resume));
      },
    });
  };
}

function encodeInstance(instance: LlamaInstance): MessageInitShape<typeof PoolInstanceSchema> {
  const { groups, drain, since } = instance;
  const total = (of: (group: (typeof groups)[number]) => number): number => groups.reduce((sum, group) => sum + of(group), 0);
  const tokens = (of: (group: (typeof groups)[number]) => number): bigint => BigInt(Math.round(total(of)));
  const known = drain?.since ?? since;
  return {
    url: instance.name,
    state: stateOf(instance),
    ...(known === undefined ? {} : { since: timestampFromDate(known) }),
    lastError: drain?.why ?? instance.lastError,
    drainReason: drain === undefined ? DrainReason.UNSPECIFIED : REASONS[drain.kind],
    models: instance.models.map(({ name, contextWindow }) => ({ name, contextWindow })),
    slots: instance.slots,
    ownSlots: total(({ share }) => share),
    inFlight: instance.inFlight,
    inFlightElsewhere: total(({ elsewhere }) => elsewhere),
    answers: tokens(({ answered }) => answered),
    promptTokens: tokens(({ prompts }) => prompts.tokens),
    expectedCachedTokens: tokens(({ prompts }) => prompts.expected),
    cachedTokens: tokens(({ prompts }) => prompts.cached),
  };
}

function stateOf({ drain, failure, isStarting }: LlamaInstance): InstanceState {
  if (drain !== undefined) return InstanceState.DRAINING;
  if (failure === undefined) return InstanceState.READY;
  return isStarting ? InstanceState.STARTING : InstanceState.FAILING;
}

function unknownInstance(url: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "instance_unknown",
    message: `The pool has no llama-server ${url}.`,
    advice: "`hlvm model pool` shows them, with the URL to give.",
  });
}

function vanished(url: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "instance_vanished",
    message: `${url} drains because it is named no more.`,
    advice: "Name it in HLVM_LLAMA_URLS or in the file of HLVM_LLAMA_URLS_FILE.",
  });
}
