import { setImmediate as turn } from "node:timers/promises";
import { estimateBytes } from "./estimate-bytes.ts";
import type { MessageQueue } from "./message-queue.ts";

/** Larger ones go by themselves: what is joined stays far below what a message may have. */
const MOST_JOINED_BYTES = 64 * 1024;

/**
 * A message with those that were written in the same turn of the event loop, since each message on a stream costs more than most
 * responses do. One behind which nothing will come does not wait for others.
 */
export async function joined<Message extends object>(
  first: Message,
  queue: MessageQueue<Message>,
  isEnd: (message: Message) => boolean,
): Promise<Message & { readonly more: Message[] }> {
  let room = MOST_JOINED_BYTES - estimateBytes(first, MOST_JOINED_BYTES);
  if (room > 0 && !isEnd(first)) await turn();
  const more = queue.takeWhile((message) => (room -= estimateBytes(message, room)) > 0);
  return { ...first, more };
}
