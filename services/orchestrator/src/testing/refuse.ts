/** A stream that ends with an error before it says anything. */
export function refuse(error: Error): AsyncIterable<never> {
  const next = async (): Promise<never> => {
    throw error;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
