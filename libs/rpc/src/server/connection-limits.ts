/** What a port allows its callers before it knows who they are. */
export interface ConnectionLimits {
  /** At a time; the next ones are closed as they come. */
  readonly connections: number;
  /** From the opening of a connection until the head of its first request is here; over HTTP/1.1 of each request. */
  readonly requestHeadMilliseconds: number;
  /** Until all of a request is here, but for streams that carry calls. */
  readonly requestMilliseconds: number;
  /** Without any request under way. */
  readonly idleMilliseconds: number;
  /** Of an HTTP/2 connection, give or take a tenth; then its caller connects anew. */
  readonly ageMilliseconds: number;
}

/** Node's own for HTTP/1.1, where it has some; a connection that idles is made again at the next call. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  connections: 1_000,
  requestHeadMilliseconds: 10_000,
  requestMilliseconds: 300_000,
  idleMilliseconds: 300_000,
  ageMilliseconds: 180_000,
};

/** @param ageSeconds of a connection, as the service was told */
export function connectionLimits(ageSeconds: number): ConnectionLimits {
  return { ...CONNECTION_LIMITS, ageMilliseconds: ageSeconds * 1_000 };
}
