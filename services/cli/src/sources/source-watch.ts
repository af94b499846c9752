const MINUTE = 60_000;
/** Of pauses that double with every failure. */
const MOST_DOUBLINGS = 5;
const LONGEST_PAUSE_MINUTES = 24 * 60;

/** A source that is scanned by itself for as long as `hlvm up` runs. */
export interface SourceWatch {
  readonly minutes: number;
  /** Milliseconds since 1970; 0: never. */
  readonly triedAt: number;
  /** Of scans, in a row; files that cannot be read are no failure of their scan. */
  readonly failures: number;
  readonly reason: string;
}

/** When it is scanned next, in milliseconds since 1970. */
export function nextScanAt({ minutes, triedAt, failures }: SourceWatch): number {
  const pause = failures === 0 ? minutes : Math.min(minutes * 2 ** Math.min(failures, MOST_DOUBLINGS), LONGEST_PAUSE_MINUTES);
  return triedAt === 0 ? 0 : triedAt + pause * MINUTE;
}

/** A clock that went back must not keep a source waiting. */
export function isScanDue(watch: SourceWatch, now: number): boolean {
  return now < watch.triedAt || now >= nextScanAt(watch);
}
