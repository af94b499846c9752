import { readdirSync, readFileSync } from "node:fs";

/** A process that is told from a later one with the same number by when it began. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Ticks since the machine began. */
  readonly beganAt: string;
  readonly state: string;
  readonly command: string;
}

/** Remembers the processes below one, so that those that it leaves behind are found when it has ended. */
export class ProcessTree {
  readonly #root: number;
  readonly #list: () => readonly Process[];
  readonly #seen = new Set<string>();

  constructor(root: number, list = allProcesses) {
    this.#root = root;
    this.#list = list;
  }

  /** Who has left the tree, since its parent ended, counts if it was seen in it before. */
  look(): void {
    const all = this.#list();
    const below = new Set([this.#root]);
    for (const process of all) if (this.#seen.has(keyOf(process))) below.add(process.pid);
    for (let grew = true; grew;) {
      const known = below.size;
      for (const { pid, parent } of all) if (below.has(parent)) below.add(pid);
      grew = below.size > known;
    }
    for (const process of all) if (below.has(process.pid)) this.#seen.add(keyOf(process));
  }

  /** Those that were seen and live, as a person would name them. */
  living(): string[] {
    return this.#list()
      .filter((process) => process.state !== "Z" && this.#seen.has(keyOf(process)))
      .map(({ pid, command }) => `${pid} (${command})`);
  }
}

function keyOf({ pid, beganAt }: Process): string {
  return `${pid} ${beganAt}`;
}

function allProcesses(): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)));
}

/** Nothing where it ended meanwhile. */
function readProcess(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name is in brackets and may hold anything; the fields behind it are numbered as proc(5) has it, from 3.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    return [{ pid, command, state: fields[0]!, parent: Number(fields[1]), beganAt: fields[19]! }];
  } catch {
    return [];
  }
}
