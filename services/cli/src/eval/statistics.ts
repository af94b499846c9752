/** Of the normal distribution, for 95 %. */
const Z = 1.959_964;
const RESAMPLES = 10_000;
const SEED = 20_261_122;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Of the share of passed trials of one task, by Wilson, 95 %. Of none: everything. */
export function wilsonInterval(passed: number, count: number): Interval {
  if (count === 0) return { low: 0, high: 1 };
  const share = passed / count;
  const middle = share + (Z * Z) / (2 * count);
  const width = Z * Math.sqrt((share * (1 - share)) / count + (Z * Z) / (4 * count * count));
  const scale = 1 + (Z * Z) / count;
  return { low: Math.max(0, (middle - width) / scale), high: Math.min(1, (middle + width) / scale) };
}

/**
 * Of the mean over tasks, by bootstrap over the tasks, 95 %: repeats of one task are not independent of each other. The same
 * values give the same interval.
 */
export function bootstrapInterval(values: readonly number[]): Interval {
  if (values.length === 0) return { low: 0, high: 1 };
  const random = randomFrom(SEED);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let index = 0; index < values.length; index++) sum += values[Math.floor(random() * values.length)]!;
    return sum / values.length;
  }).toSorted((one, other) => one - other);
  return { low: means[Math.floor(RESAMPLES * 0.025)]!, high: means[Math.ceil(RESAMPLES * 0.975) - 1]! };
}

/** How likely all of `count` trials pass, drawn from those that were made. */
export function passAll(passed: number, made: number, count: number): number {
  let likelihood = 1;
  for (let index = 0; index < count; index++) likelihood *= Math.max(0, passed - index) / (made - index);
  return likelihood;
}

/** How likely any of `count` trials passes, drawn from those that were made. */
export function passAny(passed: number, made: number, count: number): number {
  return 1 - passAll(made - passed, made, count);
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Mulberry32: from 0 up to 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
