import { expect, it } from "vitest";
import { mapped } from "./mapped.ts";

const upper = (thrown: unknown): Error => new Error((thrown as Error).message.toUpperCase());

/** What is read, and whether the source was left or read to its end. */
function sourceOf(...values: readonly (number | Error)[]) {
  const state = { isOver: false };
  async function* source(): AsyncGenerator<number, void> {
    try {
      for (const value of values) {
        if (value instanceof Error) throw value;
        yield value;
      }
    } finally {
      state.isOver = true;
    }
  }
  return { state, open: () => Promise.resolve(source()) };
}

it("gives every value through its function, and ends with them", async () => {
  const { state, open } = sourceOf(1, 2, 3);
  const given: number[] = [];
  for await (const value of mapped(open, (each) => each * 2, upper)) given.push(value);
  expect(given).toEqual([2, 4, 6]);
  expect(state.isOver).toBe(true);
});

it("opens nothing before it is read", async () => {
  let isOpen = false;
  const values = mapped(
    async () => {
      isOpen = true;
      return sourceOf().open();
    },
    (value) => value,
    upper,
  );
  expect(isOpen).toBe(false);
  expect(await values.next()).toMatchObject({ done: true });
  expect(isOpen).toBe(true);
});

it("leaves its source with its reader", async () => {
  const { state, open } = sourceOf(1, 2);
  for await (const value of mapped(open, (each) => each, upper)) if (value === 1) break;
  expect(state.isOver).toBe(true);
});

it.each([
  ["opening it", () => Promise.reject(new Error("broken"))],
  ["its source", () => sourceOf(new Error("broken")).open()],
])("maps what %s throws", async (_, open) => {
  await expect(mapped(open as () => Promise<AsyncIterable<number>>, (value) => value, upper).next()).rejects.toThrow("BROKEN");
});

it("leaves its source where a value cannot be mapped", async () => {
  const { state, open } = sourceOf(1, 2);
  const broken = (): never => {
    throw new Error("broken");
  };
  await expect(mapped(open, broken, upper).next()).rejects.toThrow("BROKEN");
  expect(state.isOver).toBe(true);
});
