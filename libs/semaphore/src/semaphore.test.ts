import { expect, it } from "vitest";
import { Semaphore } from "./semaphore.ts";

it("lets so many run at a time, the others in the order in which they came, and goes on after a failure", async () => {
  const semaphore = new Semaphore(2);
  const began: number[] = [];
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const work = gates.map(({ promise }, index) =>
    semaphore.use(() => {
      began.push(index);
      return promise;
    }),
  );
  expect(began).toEqual([0, 1]);
  gates[1]!.reject(new Error("broken"));
  await expect(work[1]).rejects.toThrow("broken");
  expect(began).toEqual([0, 1, 2]);
  gates[0]!.resolve();
  await work[0];
  expect(began).toEqual([0, 1, 2, 3]);
  for (const gate of gates) gate.resolve();
  await Promise.all([work[2], work[3]]);
});
