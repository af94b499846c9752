/** Reads messages to their end; how many they were. */
export async function countOf(messages: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of messages) count++;
  return count;
}
