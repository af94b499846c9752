import { readdirSync, readFileSync } from "node:fs";

/** Of `getconf CLK_TCK`, which is 100 on every Linux that Node runs on. */
const TICK_MILLISECONDS = 10;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly cpuMilliseconds: number;
}

/**
 * How much processor time a process and everything below it have used: those that have ended count where their parent waited
 * for them.
 */
export function cpuMilliseconds(root: number): number {
  const all = allProcesses();
  const below = new Set([root]);
  for (let grew = true; grew;) {
    const known = below.size;
    for (const { pid, parent } of all) if (below.has(parent)) below.add(pid);
    grew = below.size > known;
  }
  return all.reduce((sum, process) => sum + (below.has(process.pid) ? process.cpuMilliseconds : 0), 0);
}

/** The most memory that a process ever had resident, in MB of a million bytes. */
export function peakMemoryMegabytes(pid: number): number {
  return memoryMegabytes(pid, "VmHWM");
}

/** What a process has resident now, in MB of a million bytes. */
export function residentMegabytes(pid: number): number {
  return memoryMegabytes(pid, "VmRSS");
}

function memoryMegabytes(pid: number, field: "VmHWM" | "VmRSS"): number {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kibibytes) * 1_024) / 1_000_000;
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
    // The name is in brackets and may hold anything; behind it, from 3, the fields of proc(5): 4 the parent, 14 to 17 the times.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return [{ pid, parent: Number(fields[1]), cpuMilliseconds: ticks * TICK_MILLISECONDS }];
  } catch {
    return [];
  }
}
