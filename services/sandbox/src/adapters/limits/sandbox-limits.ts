import type { GroupEntry } from "./group-entry.ts";

/** What one sandbox may use in all. */
export interface LimitValues {
  /** Processes and threads. */
  readonly processes: number;
  readonly memoryBytes: number;
}

/** How much of the processors a sandbox gets while others want them, too: one that stands by leaves them to what is at work. */
export type ProcessorShare = "standby" | "command";

/** The limits of one sandbox, in force from `join` on, or from the start of what is started through its entry. */
export interface LimitGroup {
  /** Puts a process, and what it starts from now on, under the limits. The kernel takes milliseconds for it. */
  readonly join: (processId: number) => Promise<void>;
  /** Left out where threads cannot be moved by themselves. */
  readonly entry?: GroupEntry;
  /** From now on. Nothing where processors cannot be shared out here, or the group is gone. */
  readonly share: (share: ProcessorShare) => void;
  /** How many processes the kernel ended because the memory was used up. */
  readonly outOfMemoryKills: () => number;
  /** How often a process was refused because there were as many as may be. */
  readonly refusedProcesses: () => number;
  /** Ends what is left in it. Resolves when nothing is. */
  readonly clear: () => Promise<void>;
  /** Whether nothing of what ran in it counts against what runs in it next. Asked when it is clear. @throws where it is gone */
  readonly isAsNew: () => boolean;
  /** Ends what is left in it and gives it back to the system. */
  readonly remove: () => Promise<void>;
}

/** A way to limit a sandbox as a whole. */
export interface SandboxLimits {
  readonly name: "cgroup v2" | "cgroup v1" | "rlimit";
  /** Each limit holds for each process by itself, by resource limits that are set inside. */
  readonly perProcess: boolean;
  /** The controllers that are in force. */
  readonly controllers: readonly string[];
  readonly createGroup: (values: LimitValues) => LimitGroup;
}
