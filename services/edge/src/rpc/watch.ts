import { setTimeout as delay } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import type { MethodImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { WatchResponseSchema, type Topic, type WatchResponse, type WatchService } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { FrameQueue } from "../domain/frame-queue.ts";
import type { Backends } from "./backends.ts";
import { endedBecause, TopicReader, type TopicData } from "./topic-reader.ts";

const HEARTBEAT_MILLISECONDS = 15_000;

type Frame = WatchResponse["frame"];

/**
 * Follows several topics in the caller's name and hands on what they have, each frame with its topic's name. A topic that ends
 * leaves the others as they are; all end with the caller.
 */
export function watchMethod(backends: Backends, minter: TokenMinter): MethodImpl<typeof WatchService.method.watch> {
  return async function* ({ topics }, context) {
    requireDistinct(topics);
    const { principal, signal: gone } = callContext(context);
    const leaving = new AbortController();
    const signal = AbortSignal.any([gone, leaving.signal]);
    const queue = new FrameQueue<WatchResponse>();
    const reader = new TopicReader(backends, minter, principal, signal);
    const following = topics.map((topic) => follow(topic, reader, queue, signal));
    try {
      for (;;) {
        const frame = queue.take();
        if (frame !== undefined) {
          yield frame;
          continue;
        }
        const heartbeat = new AbortController();
        const timer = setTimeout(() => heartbeat.abort(), HEARTBEAT_MILLISECONDS);
        await queue.change(AbortSignal.any([signal, heartbeat.signal]));
        clearTimeout(timer);
        signal.throwIfAborted();
        if (heartbeat.signal.aborted) yield frameOf("", { case: "heartbeat", value: {} } as Frame);
      }
    } finally {
      leaving.abort();
      await Promise.all(following);
    }
  };
}

/** Never rejects: what goes wrong with a topic is a frame of it. */
async function follow(topic: Topic, reader: TopicReader, queue: FrameQueue<WatchResponse>, signal: AbortSignal): Promise<void> {
  const { name } = topic;
  let isCaughtUp = false;
  try {
    for await (const data of reader.read(topic)) {
      if (data.case === "caughtUp") {
        isCaughtUp = true;
        queue.pushAlways(name, frameOf(name, data as Frame));
      } else if (!(await hand(data, { name, queue, signal, mayWait: !isCaughtUp })))
        return queue.pushAlways(name, frameOf(name, { case: "lagging", value: {} } as Frame));
    }
    queue.pushAlways(name, frameOf(name, { case: "ended", value: { reason: "completed", message: "" } } as Frame));
  } catch (thrown) {
    if (!signal.aborted) queue.pushAlways(name, frameOf(name, { case: "ended", value: endedBecause(thrown) } as Frame));
  }
}

interface Handing {
  readonly name: string;
  readonly queue: FrameQueue<WatchResponse>;
  readonly signal: AbortSignal;
  /** What was there before may come as slowly as it is read. */
  readonly mayWait: boolean;
}

async function hand(data: TopicData, { name, queue, signal, mayWait }: Handing): Promise<boolean> {
  const frame = frameOf(name, data as Frame);
  const bytes = toBinary(WatchResponseSchema, frame).length;
  if (data.case === "sessions" || data.case === "approvals") {
    queue.replace(name, frame, bytes);
    return true;
  }
  while (!queue.push(name, frame, bytes)) {
    if (!mayWait) return false;
    await queue.change(signal);
    signal.throwIfAborted();
    await delay(0);
  }
  return true;
}

function frameOf(topic: string, frame: Frame): WatchResponse {
  return create(WatchResponseSchema, { topic, frame });
}

function requireDistinct(topics: readonly Topic[]): void {
  if (new Set(topics.map(({ name }) => name)).size === topics.length) return;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "topic_named_twice",
    message: "Two topics have the same name, so that their frames could not be told apart.",
    advice: "Give each topic a name of its own.",
  });
}
