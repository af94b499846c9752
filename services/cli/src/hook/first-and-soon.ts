import { setTimeout as after } from "node:timers/promises";

const GRACE_MILLISECONDS = 30;

/** Both answers, where both come; what fails, or comes long after the other, is left out. */
export function firstAndSoon<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One | undefined, Other | undefined]> {
  return Promise.all([orLeft(one, other), orLeft(other, one)]);
}

function orLeft<Answer>(answer: Promise<Answer>, other: Promise<unknown>): Promise<Answer | undefined> {
  const { promise: never } = Promise.withResolvers<undefined>();
  const grace = other.then(
    () => after(GRACE_MILLISECONDS, undefined, { ref: false }),
    () => never,
  );
  return Promise.race([answer.catch(() => undefined), grace]);
}
