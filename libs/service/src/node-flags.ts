/**
 * With these Node runs a service, whoever starts it.
 *
 * V8 makes a function fast after hundreds of calls, and a service runs most of its functions a few times a call that it
 * answers: it would be slow for its first hundreds of turns. So it gathers what it needs at once, and compiles after fewer calls.
 * V8 lets a heap grow for as long as the machine has memory before it collects what is old: with 500 runs an orchestrator took
 * 700 MB, of which it needed half (`npm run bench -- many-runs`).
 * Young objects have twice the room that they have by default, and are collected half as often where much is going on: the model
 * gateway answers 8 % more requests a second with it (`npm run bench -- gateway`, 64 clients).
 * That Node calls the stripping of types by a program experimental is known here, and nothing for a service's log.
 */
export const NODE_FLAGS: readonly string[] = [
  "--no-lazy-feedback-allocation",
  "--invocation-count-for-maglev=60",
  "--minimum-invocations-after-ic-update=60",
  "--max-old-space-size=512",
  "--max-semi-space-size=32",
  "--disable-warning=ExperimentalWarning",
];
