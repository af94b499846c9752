/**
 * Loaded into a process before anything else: from SIGUSR2 on its clock is off by HLVM_TEST_CLOCK_JUMP_SECONDS, as where
 * somebody sets it, or a machine wakes up. What counts by the monotonic clock, timers among it, does not notice.
 */
const Original = Date;
let offset = 0;

class JumpingDate extends Original {
  constructor(...given: [] | ConstructorParameters<DateConstructor>) {
    if (given.length === 0) super(JumpingDate.now());
    else super(...given);
  }

  static override now(): number {
    return Original.now() + offset;
  }
}

globalThis.Date = JumpingDate as DateConstructor;
process.on("SIGUSR2", () => {
  offset = Number(process.env.HLVM_TEST_CLOCK_JUMP_SECONDS) * 1_000;
});
