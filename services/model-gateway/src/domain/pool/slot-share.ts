import { hash } from "node:crypto";

/** Which of several gateways that use the same servers this one is. */
export interface Replica {
  /** From 0. */
  readonly index: number;
  readonly count: number;
}

/**
 * How many of a server's slots belong to one of several gateways. All of them together have exactly the server's slots, so no
 * two of them can give it more than it has, whatever they know of each other. What cannot be divided goes to another one with
 * every server.
 * @param server a name that all of them call it by
 */
export function slotShare(slots: number, server: string, { index, count }: Replica): number {
  const offset = Number.parseInt(hash("sha1", server).slice(0, 8), 16);
  return Math.floor(slots / count) + ((index + offset) % count < slots % count ? 1 : 0);
}
