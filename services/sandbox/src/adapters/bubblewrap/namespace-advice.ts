import { readFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** Settings by which systems switch user namespaces off: the file, the value that means off, and how to change it. */
const SWITCHES = [
  {
    file: "/proc/sys/kernel/unprivileged_userns_clone",
    off: "0",
    advice: "Allow user namespaces: `sudo sysctl -w kernel.unprivileged_userns_clone=1`, and the same in /etc/sysctl.d to keep it.",
  },
  {
    file: "/proc/sys/user/max_user_namespaces",
    off: "0",
    advice: "Allow user namespaces: `sudo sysctl -w user.max_user_namespaces=15000`, and the same in /etc/sysctl.d to keep it.",
  },
  {
    file: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    off: "1",
    advice:
      "AppArmor keeps bwrap from making user namespaces. Install its profile (`sudo apt-get install apparmor-profiles` and `sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && sudo systemctl reload apparmor`), or allow them for all programs: `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`.",
  },
];

/** The service cannot isolate on this machine: what is missing, and the command that changes it where it is known. */
export function cannotIsolate(complaint: string, cause: unknown): HlvmError {
  const found = SWITCHES.find(({ file, off }) => valueOf(file) === off);
  return new HlvmError({
    code: "failed_precondition",
    reason: "isolation_unavailable",
    message: `Tools cannot be isolated on this machine. bwrap says: ${complaint}`,
    advice:
      found?.advice ??
      "The machine must let this user make user, mount, process and network namespaces. In a container that takes `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN`, or a runtime with user namespaces.",
    cause,
  });
}

function valueOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}
