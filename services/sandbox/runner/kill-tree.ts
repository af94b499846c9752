import { readdirSync, readFileSync } from "node:fs";

/** A process that forks while it is being ended is met again by the next look. */
const MAXIMUM_LOOKS = 5;

/**
 * Ends a process that leads its own group, and all that descends from it, a new session or not. What has been handed to
 * the init process by a parent that ended is not found: only a sweep of the sandbox ends it.
 */
export function killTree(leader: number): void {
  for (let look = 0; look < MAXIMUM_LOOKS; look++) {
    const found = descendantsOf(leader);
    kill(-leader);
    for (const processId of found) kill(processId);
    if (found.length === 0) return;
  }
}

function descendantsOf(leader: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const processId = Number(name);
    if (!Number.isInteger(processId)) continue;
    const status = statusOf(processId);
    if (status === undefined || status.isDead) continue;
    children.set(status.parent, [...(children.get(status.parent) ?? []), processId]);
  }
  const found: number[] = [];
  const waiting = [leader];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const below = children.get(next) ?? [];
    found.push(...below);
    waiting.push(...below);
  }
  return found;
}

function statusOf(processId: number): { parent: number; isDead: boolean } | undefined {
  try {
    // "42 (any name) S 1 …": the name may hold anything, also brackets.
    const text = readFileSync(`/proc/${processId}/stat`, "latin1");
    const [state, parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(parent), isDead: state === "Z" || state === "X" };
  } catch {
    return undefined;
  }
}

function kill(target: number): void {
  try {
    process.kill(target, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}
