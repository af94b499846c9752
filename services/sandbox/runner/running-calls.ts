/** The calls that run now, by id; aborting one ends its tool. */
export const runningCalls = new Map<string, AbortController>();
