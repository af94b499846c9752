import { mkdirSync, readdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Version } from "./export-version.ts";

/** Who starts the others, and who asks: they stay. */
const NOT_REPLACED = new Set(["supervisor", "cli"]);

/**
 * A version whose services are links, as many a deployment has it: a service that is started again is of the version that its
 * link then names, in the environment, on the port and with the keys that its supervisor has always given it. A process that
 * runs keeps to the folder that the link named when it was started.
 */
export class Deployment {
  readonly root: string;
  readonly #services: string;

  constructor({ root }: Version) {
    this.root = root;
    this.#services = join(root, "services");
    const moved = join(root, "linked");
    mkdirSync(moved);
    for (const service of readdirSync(this.#services)) {
      if (NOT_REPLACED.has(service)) continue;
      renameSync(join(this.#services, service), join(moved, service));
      symlinkSync(join(moved, service), join(this.#services, service));
    }
  }

  /** From now on this service is started from another version. */
  install(service: string, { root }: Version): void {
    const link = join(this.#services, service);
    // A rename replaces the link at once: there is no moment without one.
    const next = `${link}.next`;
    symlinkSync(join(root, "services", service), next);
    renameSync(next, link);
  }
}
