/**
 * The values of what `open` resolves to, each through `map`, and what is thrown through `mapError`: as a generator would, without the
 * three promises that one makes of each value.
 * @param open called when the first value is asked for
 */
export function mapped<Value, Mapped>(
  open: () => Promise<AsyncIterable<Value, unknown>>,
  map: (value: Value) => Mapped,
  mapError: (thrown: unknown) => unknown,
): AsyncIterableIterator<Mapped, unknown> {
  let iterator: AsyncIterator<Value, unknown> | undefined;
  type Next = IteratorResult<Mapped, unknown>;

  async function begin(): Promise<IteratorResult<Value, unknown>> {
    iterator = (await open())[Symbol.asyncIterator]();
    return iterator.next();
  }

  async function leave(): Promise<Next> {
    await iterator?.return?.();
    return { done: true, value: undefined };
  }

  function fail(thrown: unknown): never {
    throw mapError(thrown);
  }

  function take(come: IteratorResult<Value, unknown>): Next | Promise<Next> {
    if (come.done === true) return come;
    try {
      return { done: false, value: map(come.value) };
    } catch (thrown) {
      return leave().then(() => fail(thrown));
    }
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => (iterator?.next() ?? begin()).then(take, fail),
    return: leave,
  };
}
