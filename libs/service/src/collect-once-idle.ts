const LOOK_EVERY_MILLISECONDS = 5_000;
/** An idle service's heartbeats and health checks take less of its event loop's time. */
const IDLE_SHARE = 0.1;

/**
 * While its modules are loaded, a service's heap grows by some 30 MB of room for young objects, which V8 keeps although an idle service
 * needs two. So all garbage is collected once, and what is free goes back to the system, after the first five seconds in which the service
 * does next to nothing: nobody waits for it then. Does nothing unless Node runs with `--expose-gc`.
 */
export function collectOnceIdle(): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  let last = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization > IDLE_SHARE) return;
    clearInterval(timer);
    gc({ type: "major", flavor: "last-resort" });
  }, LOOK_EVERY_MILLISECONDS).unref();
}
