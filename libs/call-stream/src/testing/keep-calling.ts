import { setTimeout as sleep } from "node:timers/promises";

export interface KeptCalling {
  /** How often each answer came. */
  readonly answers: ReadonlyMap<string, number>;
  readonly failures: readonly unknown[];
  /** Resolves when the last call has ended. */
  readonly stop: () => Promise<void>;
}

const CALLERS = 8;
const PAUSE_MILLISECONDS = 2;

/** Several callers, each of which calls again as soon as it has its answer. */
export function keepCalling(call: () => Promise<string>): KeptCalling {
  const answers = new Map<string, number>();
  const failures: unknown[] = [];
  const over = new AbortController();
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!over.signal.aborted) {
      await call().then(
        (answer) => answers.set(answer, (answers.get(answer) ?? 0) + 1),
        (thrown: unknown) => failures.push(thrown),
      );
      await sleep(PAUSE_MILLISECONDS);
    }
  });
  return {
    answers,
    failures,
    stop: async () => {
      over.abort();
      await Promise.all(callers);
    },
  };
}
