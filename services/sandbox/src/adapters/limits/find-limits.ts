import { HlvmError } from "@hlvm/errors/hlvm-error";
import { findCgroupV1 } from "./cgroup-v1.ts";
import { findCgroupV2 } from "./cgroup-v2.ts";
import { resourceLimits } from "./resource-limits.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";

/**
 * The strongest limits that this machine offers.
 * @param weakest what the configuration accepts
 * @param hostUserId of this process; resource limits do not bind user 0
 * @throws HlvmError `limits_unavailable`
 */
export function findLimits(weakest: "rlimit" | "cgroup", hostUserId: number): SandboxLimits {
  const found = findCgroupV2() ?? findCgroupV1();
  if (found !== undefined) return found;
  const isRoot = hostUserId === 0;
  if (weakest === "rlimit" && !isRoot) return resourceLimits;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "limits_unavailable",
    message: isRoot
      ? "Processes and memory of a sandbox cannot be limited: root is not bound by resource limits, and no control group (cgroup) with the controllers pids and memory is writable."
      : "HLVM_SANDBOX_LIMITS asks for cgroups, and no control group with the controllers pids and memory is delegated to this user.",
    advice: isRoot
      ? "Run HLVM as an ordinary user, or mount /sys/fs/cgroup writable (in a container: --privileged or --cgroupns=private with a writable mount)."
      : "Start HLVM by `systemd-run --user --scope -p Delegate=yes npm start`, or set HLVM_SANDBOX_LIMITS=rlimit.",
  });
}
