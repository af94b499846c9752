import { useCallback, useEffect, useState } from "react";
import { troubleOf, type Trouble } from "./clients.ts";

export interface CallState<Value> {
  readonly value: Value | undefined;
  readonly trouble: Trouble | undefined;
  readonly isLoading: boolean;
  readonly again: () => void;
}

/** The answer of a call, asked for again when its key changes; what was there before stays until then. */
export function useCall<Value>(key: string, call: (signal: AbortSignal) => Promise<Value>): CallState<Value> {
  const [state, setState] = useState<Omit<CallState<Value>, "again">>({ value: undefined, trouble: undefined, isLoading: true });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    call(leaving.signal).then(
      (value) => leaving.signal.aborted || setState({ value, trouble: undefined, isLoading: false }),
      (thrown: unknown) =>
        leaving.signal.aborted || setState((before) => ({ value: before.value, trouble: troubleOf(thrown), isLoading: false })),
    );
    return () => leaving.abort();
    // The key says what the call depends on.
  }, [key, attempt]);
  return { ...state, again: useCallback(() => setAttempt((count) => count + 1), []) };
}

/** A call that a person makes: whether it is under way, and what went wrong. */
export function useAction<Arguments extends readonly unknown[]>(
  act: (...given: Arguments) => Promise<void>,
): { readonly run: (...given: Arguments) => void; readonly isBusy: boolean; readonly trouble: Trouble | undefined } {
  const [state, setState] = useState<{ isBusy: boolean; trouble: Trouble | undefined }>({ isBusy: false, trouble: undefined });
  const run = (...given: Arguments): void => {
    setState({ isBusy: true, trouble: undefined });
    act(...given).then(
      () => setState({ isBusy: false, trouble: undefined }),
      (thrown: unknown) => setState({ isBusy: false, trouble: troubleOf(thrown) }),
    );
  };
  return { run, ...state };
}
