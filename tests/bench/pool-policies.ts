import { hash } from "node:crypto";

const BOUND = 1.25;
const POINTS = 100;

/** What the pool is measured against: which server a request goes to, without knowing what servers hold. */
export type PoolPolicy = (conversation: number, inFlight: readonly number[]) => number;

export const poolPolicies: Readonly<Record<string, (servers: number) => PoolPolicy>> = {
  "round robin": (servers) => {
    let next = 0;
    return () => next++ % servers;
  },
  /** Of several that are as busy as each other any, as a proxy takes them. */
  "least busy": (servers) => {
    let next = 0;
    return (_conversation, inFlight) => {
      const order = Array.from({ length: servers }, (_empty, index) => (index + next) % servers);
      next++;
      return order.reduce((one, other) => (inFlight[other]! < inFlight[one]! ? other : one));
    };
  },
  /** Mirrokni, Thorup and Zadimoghaddam, 2016: along the ring from the conversation's point to the first server below the bound. */
  "consistent hashing, bounded loads": (servers) => {
    const ring = Array.from({ length: servers * POINTS }, (_empty, index) => ({
      server: index % servers,
      at: position(`server ${index}`),
    })).toSorted((one, other) => one.at - other.at);
    return (conversation, inFlight) => {
      const limit = Math.ceil((BOUND * (inFlight.reduce((sum, each) => sum + each, 0) + 1)) / servers);
      const start = ring.findIndex(({ at }) => at >= position(`conversation ${conversation}`));
      const along = [...ring.slice(Math.max(0, start)), ...ring.slice(0, Math.max(0, start))];
      return along.find(({ server }) => inFlight[server]! < limit)!.server;
    };
  },
};

function position(name: string): number {
  return Number.parseInt(hash("sha1", name).slice(0, 8), 16);
}
