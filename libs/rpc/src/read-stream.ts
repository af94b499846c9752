/**
 * Reads a server stream so that leaving the loop, by `break`, `return` or a throw, cancels the call: Connect's own
 * iterator does not.
 */
export async function* readStream<T>(open: (signal: AbortSignal) => AsyncIterable<T>, signal?: AbortSignal): AsyncGenerator<T, void> {
  const leaving = new AbortController();
  const either = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
  try {
    yield* open(either);
  } finally {
    leaving.abort();
  }
}
