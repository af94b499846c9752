import type { SandboxLimits } from "./sandbox-limits.ts";

/**
 * Resource limits that are set inside the sandbox, where its user namespace counts its own processes. They bind no
 * process that is root's outside.
 */
export const resourceLimits: SandboxLimits = {
  name: "rlimit",
  perProcess: true,
  controllers: [],
  createGroup: () => ({
    join: () => Promise.resolve(),
    share: () => undefined,
    outOfMemoryKills: () => 0,
    refusedProcesses: () => 0,
    clear: () => Promise.resolve(),
    isAsNew: () => false,
    remove: () => Promise.resolve(),
  }),
};
