/** A managed process that is up. */
export interface RunningProcess {
  readonly pid: number;
  readonly port?: number;
  /** Resolves when its process has ended, with how: `code 1`, `SIGKILL`. */
  readonly ended: Promise<string>;
  /** Asks it for its health; throws where it has not answered by the deadline. */
  readonly check: (deadlineMilliseconds: number) => Promise<void>;
  /** Asks it to end, and kills it where it has not ended in time. Resolves when its process has ended. */
  readonly stop: () => Promise<void>;
}

/** A process of the mesh that the supervisor starts, watches and ends: PostgreSQL, Meilisearch or a service. */
export interface ManagedProcess {
  /** As people know it: `policy`, `PostgreSQL`. */
  readonly name: string;
  readonly logFile: string;
  /** Names of the processes that have to be up before this one is started. */
  readonly needs: readonly string[];
  /** Parts end by layer, what is public first and the stores last, so that what is under way can still be written down. */
  readonly layer: Layer;
  /** The mesh comes up without it, and says what is less. Left out: the mesh cannot do without. */
  readonly without?: string;
  /** Throws an HlvmError that names the process, its port and its log file. An abort ends the start. */
  readonly start: (signal: AbortSignal) => Promise<RunningProcess>;
}

/** In the order in which they end. */
export const LAYERS = ["front", "back", "store"] as const;
export type Layer = (typeof LAYERS)[number];
