import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { CommandSandbox } from "../../domain/isolation.ts";

const TIMEOUT_MILLISECONDS = 10_000;

/** A setting by which the kernel could be told to run a program outside is opened for writing, and not written. */
const COMMAND =
  "(true >> /proc/sys/kernel/core_pattern) 2>/dev/null && echo kernel-settings-open; (true >> /workspace/written) 2>/dev/null && echo workspace-written; cat /proc/self/status /proc/net/dev";

/** What the kernel says of a process inside, by the name of the protection that it proves. */
const PROOFS: readonly (readonly [protection: string, holds: (report: string) => boolean])[] = [
  ["a user of its own", (report) => /^Uid:\s+2\d{4}\s/m.test(report)],
  ["no capabilities", (report) => /^CapEff:\s+0+$/m.test(report) && /^CapBnd:\s+0+$/m.test(report)],
  ["no way to gain privileges", (report) => /^NoNewPrivs:\s+1$/m.test(report)],
  ["a seccomp filter", (report) => /^Seccomp:\s+2$/m.test(report)],
  ["processes of its own", (report) => /^NSpid:\s+[1-9]\d?$/m.test(report)],
  ["kernel settings out of reach", (report) => !report.includes("kernel-settings-open")],
  ["a workspace that reading leaves alone", (report) => !report.includes("workspace-written")],
  ["no network", (report) => interfacesOf(report).every((name) => name === "lo")],
];

/** The names in /proc/net/dev, which comes last in the report, below two lines of headings. */
function interfacesOf(report: string): string[] {
  const table = report.slice(report.indexOf("Inter-|"));
  return [...table.matchAll(/^\s*(\w+):/gm)].map((match) => match[1]!);
}

/**
 * Looks from inside whether the isolation holds, before any session relies on it.
 * @throws HlvmError `isolation_incomplete`
 */
export async function selfTest(sandbox: CommandSandbox): Promise<void> {
  let report = "";
  const { exitCode } = await sandbox.run(
    { text: COMMAND, directory: "/workspace" },
    {
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
      onOutput: (_, chunk) => {
        report += chunk.toString("latin1");
        return true;
      },
    },
  );
  const missing = exitCode === 0 ? PROOFS.filter(([, holds]) => !holds(report)).map(([protection]) => protection) : ["a command that runs"];
  if (missing.length === 0) return;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "isolation_incomplete",
    message: `A process that was started in the sandbox lacks ${missing.join(", ")}. ${exitCode === 0 ? "" : report}`.trim(),
    advice: "Tools are not run without it. Update bubblewrap and the kernel, or run HLVM on another machine.",
  });
}
