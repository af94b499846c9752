/** A turn as a tool's file tells it. */
export interface ReadTurn {
  readonly session: string;
  /** Unique in its session. */
  readonly key: string;
  readonly speaker: "person" | "assistant" | "tool" | "harness";
  readonly saidAt: Date | undefined;
  readonly text: string;
  /** Of the session; left out where the file does not say. */
  readonly title?: string | undefined;
  readonly folder?: string | undefined;
}

/** What became of a file's lines or rows; counted while they are read. */
export interface Tally {
  read: number;
  /** Of a kind that the reader does not know, or no JSON. */
  notUnderstood: number;
  /** Longer than is read. */
  dropped: number;
}

export type TurnReader = (file: string, tally: Tally) => AsyncGenerator<ReadTurn>;

export function newTally(): Tally {
  return { read: 0, notUnderstood: 0, dropped: 0 };
}
