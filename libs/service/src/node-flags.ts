/**
 * V8 makes a function fast after hundreds of calls, and a service runs most of its functions a few times a call that it
 * answers: it would be slow for its first hundreds of turns. So it gathers what it needs at once, and compiles after fewer calls.
 * V8 lets a heap grow for as long as the machine has memory before it collects what is old: with 500 runs an orchestrator took
 * 700 MB, of which it needed half (`npm run bench -- many-runs`).
 * That Node calls the stripping of types by a program experimental is known here, and nothing for a service's log.
 */
const FLAGS = [
  "--no-lazy-feedback-allocation",
  "--invocation-count-for-maglev=60",
  "--minimum-invocations-after-ic-update=60",
  "--max-old-space-size=512",
  "--disable-warning=ExperimentalWarning",
];

/** Young objects have twice the room that they have by default, and are collected half as often where much is going on. */
const OTHER_SERVICES_FLAGS = ["--max-semi-space-size=32"];

/**
 * All calls under way wait for a collection. With eight times the default's room for young objects there are few of them, and few of
 * old objects, too; where one client's calls were slow, many had met one (`npm run bench -- gateway`). Where this room has to grow
 * first, collections under load take 11 to 25 ms, and 3 to 8 where it is there from the start; it costs an idle gateway 60 MB.
 * A collection while no call is under way finds no object of most shapes, and V8 then drops the compiled code that knows them, which
 * the next calls pay for. So shapes are kept, and no collection is made because the process is idle: such a one keeps none.
 */
const MODEL_GATEWAY_FLAGS = [
  "--min-semi-space-size=128",
  "--max-semi-space-size=128",
  "--retain-maps-for-n-gc=1000",
  "--no-memory-reducer",
];

/** What Node runs a service with, whoever starts it. */
export function nodeFlags(service: string): string[] {
  return [...FLAGS, ...(service === "model-gateway" ? MODEL_GATEWAY_FLAGS : OTHER_SERVICES_FLAGS)];
}
