import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CircuitBreaker, type Permit } from "./circuit-breaker.ts";

class Clock {
  now = 1_000_000;
  readonly breaker = new CircuitBreaker(() => this.now);

  fail(times: number): void {
    for (let time = 0; time < times; time++) this.breaker.permit()?.failed();
  }
}

describe("CircuitBreaker", () => {
  it("opens where ten calls failed within 30 s and half of all, and rests twice as long after each failed probe, up to a minute", () => {
    const clock = new Clock();
    clock.fail(9);
    clock.now += 30_000;
    clock.fail(1);
    expect(clock.breaker.waitMilliseconds).toBe(0);
    for (let call = 0; call < 11; call++) clock.breaker.permit()!.succeeded();
    clock.fail(9);
    expect(clock.breaker.waitMilliseconds).toBe(0);
    clock.fail(1);
    for (const rest of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      expect(clock.breaker.waitMilliseconds).toBe(rest);
      clock.now += rest - 1;
      expect(clock.breaker.permit()).toBeUndefined();
      clock.now += 1;
      clock.fail(1);
    }
  });

  it("lets one call probe at a time, and all again once that one is being answered", () => {
    const clock = new Clock();
    clock.fail(10);
    clock.now += 5_000;
    const left = clock.breaker.permit()!;
    expect(clock.breaker.permit()).toBeUndefined();
    left.withdrawn();
    const probe = clock.breaker.permit()!;
    expect(clock.breaker.permit()).toBeUndefined();
    probe.answering();
    expect(clock.breaker.permit()).toBeDefined();
    probe.failed();
    expect(clock.breaker.waitMilliseconds).toBe(0);
    clock.fail(9);
    expect(clock.breaker.waitMilliseconds).toBe(5_000);
  });

  it("does not count calls that were let in before it opened", () => {
    const clock = new Clock();
    const early = clock.breaker.permit()!;
    clock.fail(10);
    early.succeeded();
    expect(clock.breaker.waitMilliseconds).toBe(5_000);
  });

  /** Told twice, told late, told in any order: a permit counts once, and the rules hold at every step. */
  it("holds its rules whatever happens when", () => {
    const ends = ["failed", "failed", "failed", "succeeded", "withdrawn", "answering"] as const;
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("ask" as const) }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom(...ends), permit: fc.nat(200) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const), milliseconds: fc.integer({ min: 0, max: 8_000 }) }) },
    );
    let opened = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 400 }), (steps) => {
        const clock = new Clock();
        const permits: Permit[] = [];
        const broken: string[] = [];
        const demand = (holds: boolean, rule: string): void => void (holds || broken.push(rule));
        let probe: Permit | undefined;
        let failures = 0;
        for (const each of steps) {
          const wasOpen = clock.breaker.waitMilliseconds > 0;
          if (each.kind === "wait") clock.now += each.milliseconds;
          else if (each.kind === "ask") {
            const permit = clock.breaker.permit();
            demand((permit === undefined) === wasOpen, "who is told to wait gets no permit, and nobody else is refused");
            if (permit === undefined) continue;
            permits.push(permit);
            probe = clock.breaker.permit() === undefined ? permit : undefined;
          } else {
            const permit = permits[each.permit % Math.max(1, permits.length)];
            if (permit === undefined) continue;
            permit[each.kind]();
            if (each.kind === "failed") failures++;
            const isOpen = clock.breaker.waitMilliseconds > 0;
            if (!wasOpen && isOpen) opened++;
            demand(wasOpen || !isOpen || (each.kind === "failed" && failures >= 10), "only failures open it");
            demand(!wasOpen || isOpen || probe === undefined || (permit === probe && each.kind !== "failed"), "only the probe closes it");
          }
          demand(clock.breaker.waitMilliseconds <= 60_000, "it rests for a minute at most");
        }
        expect(broken).toEqual([]);
      }),
    );
    expect(opened).toBeGreaterThan(20);
  });
});
