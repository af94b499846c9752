import { setTimeout as sleep } from "node:timers/promises";
import { readMeshState, type ServiceState } from "@hlvm/mesh/mesh-state";
import { lastLines } from "@hlvm/mesh/last-lines";
import { Random } from "../chaos/random.ts";
import type { Deployment } from "./deployment.ts";
import type { Version } from "./export-version.ts";

/** Not services of ours: they stay. */
const STORES: ReadonlySet<string> = new Set(["PostgreSQL", "Meilisearch"]);
const UP_DEADLINE_MILLISECONDS = 60_000;
const POLL_MILLISECONDS = 50;
const SHOWN_CHARACTERS = 2_000;

export interface Replacing {
  /** The HLVM directory of the mesh. */
  readonly directory: string;
  readonly deployment: Deployment;
  readonly next: Version;
  /** Decides the order. */
  readonly seed: number;
  /** Before each, so that every mixture of versions has work to do. */
  readonly pauseMilliseconds: number;
  readonly onReplaced: (replaced: Replaced) => void;
}

export interface Replaced {
  readonly part: string;
  /** From its SIGTERM until its successor was up. */
  readonly milliseconds: number;
}

/**
 * Ends each process of the version before by SIGTERM, one after the other in an order that the seed decides, since nothing in a
 * cluster says that a service's callers are replaced after it; its supervisor starts the next version in its place.
 * @throws Error with the end of its log, where a service of the next version does not come up
 */
export async function replaceServices({ directory, deployment, next, seed, pauseMilliseconds, onReplaced }: Replacing): Promise<void> {
  const random = new Random(seed);
  const left = servicesOf(directory)
    .map(({ name }) => name)
    .filter((name) => !STORES.has(name))
    .toSorted();
  while (left.length > 0) {
    await sleep(pauseMilliseconds);
    const part = random.pick(left);
    left.splice(left.indexOf(part), 1);
    deployment.install(part.replace(/-\d+$/, ""), next);
    const began = performance.now();
    const { pid } = await untilUp(directory, part, undefined);
    process.kill(pid!, "SIGTERM");
    await untilUp(directory, part, pid);
    onReplaced({ part, milliseconds: Math.round(performance.now() - began) });
  }
}

/** @param other a process that does not count */
async function untilUp(directory: string, part: string, other: number | undefined): Promise<ServiceState> {
  const deadline = performance.now() + UP_DEADLINE_MILLISECONDS;
  for (;;) {
    const service = servicesOf(directory).find(({ name }) => name === part);
    if (service?.state === "up" && service.pid !== undefined && service.pid !== other) return service;
    if (performance.now() > deadline)
      throw new Error(
        `${part} is not up: ${service?.reason}\n${service === undefined ? "" : lastLines(service.logFile, 0).slice(-SHOWN_CHARACTERS)}`,
      );
    await sleep(POLL_MILLISECONDS);
  }
}

function servicesOf(directory: string): readonly ServiceState[] {
  const state = readMeshState(directory);
  if (state === undefined) throw new Error("The supervisor of the version before has ended.");
  return state.services;
}
