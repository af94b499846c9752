import { closeSync, readdirSync, readFileSync } from "node:fs";

const O_CLOEXEC = 0o2000000;

/**
 * Closes descriptors that the service itself inherited from whoever started it (a log, a pipe of a terminal program) and
 * that would go on to every tool. This process's own are marked to be closed, and are left alone.
 * @param keep descriptors up to this one stay
 */
export function closeInherited(keep: number): void {
  for (const name of readdirSync("/proc/self/fd")) {
    const descriptor = Number(name);
    if (descriptor <= keep) continue;
    try {
      const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, "latin1"))?.[1] ?? "0";
      if ((Number.parseInt(flags, 8) & O_CLOEXEC) === 0) closeSync(descriptor);
    } catch {
      // It was the one by which the folder was read.
    }
  }
}
