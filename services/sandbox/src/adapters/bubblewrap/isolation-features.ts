import { availableParallelism } from "node:os";
import type { IsolationFeature } from "../../domain/isolation.ts";
import { LEAST_MEBIBYTES_OF_A_PROCESS } from "./bubblewrap-arguments.ts";
import type { BubblewrapOptions } from "./bubblewrap-isolation.ts";

/** What protects the machine from a sandbox, and how each is reached; only what the self-test saw or the limits hold. */
export function isolationFeatures(options: BubblewrapOptions): IsolationFeature[] {
  const { limits } = options;
  const scope = limits.perProcess ? "rlimit, for each process by itself" : limits.name;
  const mebibytes = limits.perProcess ? Math.max(options.memoryMebibytes, LEAST_MEBIBYTES_OF_A_PROCESS) : options.memoryMebibytes;
  const limitsProcessor = limits.controllers.includes("cpu");
  return [
    active("user namespace", "a user of its own for each session, without capabilities"),
    active("mount namespace", "system folders read-only, the workspace at /workspace, nothing else of the machine"),
    active("process namespace", "processes outside are not seen; all inside end with the sandbox"),
    active("network namespace", "no network: loopback only"),
    active("cleared environment", "no variable of the service reaches a tool"),
    active(
      "seccomp",
      "no Unix, netlink or packet sockets, new namespaces, mounts, ptrace, keys, bpf, io_uring, kernel modules, set-user-id files",
    ),
    active("process limit", `${options.processes} (${limits.perProcess ? "rlimit, counted for the sandbox's own user" : limits.name})`),
    active("memory limit", `${mebibytes} MiB (${scope})`),
    active("file size limit", `${options.fileMebibytes} MiB (rlimit)`),
    active("temporary files limit", `${options.temporaryMebibytes} MiB (tmpfs)`),
    {
      name: "processor share",
      isActive: limitsProcessor,
      detail: limitsProcessor
        ? `that of ${availableParallelism()} busy processes (${limits.name})`
        : "not limited: the controller cpu is not delegated to this service",
    },
    {
      name: "workspace quota",
      isActive: false,
      detail: "the workspace is a folder of this machine and may fill its disk; a quota of the file system limits it",
    },
  ];
}

function active(name: string, detail: string): IsolationFeature {
  return { name, isActive: true, detail };
}
