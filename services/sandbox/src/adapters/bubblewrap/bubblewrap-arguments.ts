import type { SandboxProfile } from "@hlvm/grant/grant";
import type { ImageRoot } from "../../domain/image-root.ts";
import { imageMounts } from "./image-mounts.ts";
import { nodeMounts } from "./node-mounts.ts";
import { commandEnvironment, HOME, runnerEnvironment, type RunnerEnvironment } from "./sandbox-environment.ts";
import { systemMounts } from "./system-mounts.ts";
import { waitForCommand } from "./wait-for-command.ts";

const MEBIBYTE = 1024 * 1024;
const OPEN_FILES = 4_096;
/** Node sets aside 512 MiB for compiled code before it does anything. */
export const LEAST_MEBIBYTES_OF_A_PROCESS = 1_024;
/** Inside; outside, files belong to whoever owns the workspace. */
export const USER_ID = 20_000;

/** Numbers of the descriptors that bwrap is started with. The first goes through to what runs inside, the last is there where it waits. */
export const descriptors = { occupant: 3, information: 4, seccomp: 5, block: 6 } as const;

/** Where the runner's program is, inside. */
const RUNNER = "/opt/hlvm/runner.cjs";

/** What runs in a sandbox. */
export type Occupant =
  | ({
      readonly kind: "runner";
      /** The file of its program, on this machine. */
      readonly program: string;
      /** The folder on this machine that holds the session's checkpoints; no command sees it. */
      readonly checkpoints: string;
    } & RunnerEnvironment)
  | {
      readonly kind: "command";
      readonly profile: SandboxProfile;
      /** Of the open profile: the folder on this machine that the session's open commands share as their home. */
      readonly home?: string;
      /** What takes the place of the machine's programs. */
      readonly image?: ImageRoot;
    };

export interface SandboxLayout {
  /** The folder to bind, on this machine. */
  readonly workspace: string;
  readonly occupant: Occupant;
  /** The folder on this machine that becomes /etc. */
  readonly etc: string;
  readonly ripgrep: string;
  readonly temporaryMebibytes: number;
  readonly fileMebibytes: number;
  /** Set where the limits hold for each process by itself. */
  readonly perProcess?: { readonly processes: number; readonly memoryBytes: number };
}

/**
 * Everything that bwrap is told. No destination of a mount lies below /workspace: bwrap before 0.12 follows a symbolic
 * link that it finds there, out of the sandbox (CVE-2026-87766). The workspace is bound after the system's folders and
 * nothing is mounted after it. /proc is read-only: where root started the service, a tool's user is root outside, who may
 * write /proc/sys (and so have the kernel run a program) without any capability.
 * @param waits whether nothing runs inside before `block` is written to
 */
export function bubblewrapArguments(layout: SandboxLayout, waits: boolean): string[] {
  const { occupant } = layout;
  const temporary = ["--size", String(layout.temporaryMebibytes * MEBIBYTE), "--tmpfs"];
  const isReadOnly = occupant.kind === "command" && occupant.profile === "read";
  const environment = occupant.kind === "runner" ? runnerEnvironment(occupant) : commandEnvironment(occupant);
  const image = occupant.kind === "command" ? occupant.image : undefined;
  return [
    "--unshare-all",
    "--unshare-user",
    "--uid",
    String(USER_ID),
    "--gid",
    String(USER_ID),
    "--hostname",
    "hlvm",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--clearenv",
    ...Object.entries(environment).flatMap(([name, value]) => ["--setenv", name, value]),
    ...(image === undefined ? [...systemMounts(), "--ro-bind", layout.etc, "/etc"] : imageMounts(image)),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...temporary,
    "/dev/shm",
    ...temporary,
    "/tmp",
    ...(occupant.kind === "runner"
      ? ["--ro-bind", occupant.program, RUNNER, "--bind", occupant.checkpoints, "/checkpoints"]
      : homeOf(occupant, temporary)),
    ...(image === undefined ? [...nodeMounts(), "--ro-bind", layout.ripgrep, "/opt/hlvm/bin/rg"] : []),
    isReadOnly ? "--ro-bind" : "--bind",
    layout.workspace,
    "/workspace",
    "--remount-ro",
    "/dev",
    "--remount-ro",
    "/proc",
    "--remount-ro",
    "/",
    "--chdir",
    "/workspace",
    "--info-fd",
    String(descriptors.information),
    ...(waits ? ["--block-fd", String(descriptors.block)] : []),
    "--seccomp",
    String(descriptors.seccomp),
    "--",
    ...(occupant.kind === "runner" || layout.perProcess !== undefined ? limiter(layout) : []),
    ...programOf(layout),
  ];
}

function limiter({ fileMebibytes, perProcess }: SandboxLayout): string[] {
  const memory = Math.max(perProcess?.memoryBytes ?? 0, LEAST_MEBIBYTES_OF_A_PROCESS * MEBIBYTE);
  return [
    "/usr/bin/prlimit",
    "--core=0",
    `--nofile=${OPEN_FILES}`,
    `--fsize=${fileMebibytes * MEBIBYTE}`,
    ...(perProcess === undefined ? [] : [`--nproc=${perProcess.processes}`, `--data=${memory}`]),
    "--",
  ];
}

/** Empty where the next command must find nothing of this one. */
function homeOf({ home }: { readonly home?: string }, temporary: readonly string[]): string[] {
  return home === undefined ? [...temporary, HOME] : ["--bind", home, HOME];
}

function programOf({ occupant, fileMebibytes }: SandboxLayout): string[] {
  if (occupant.kind === "command")
    return ["/bin/sh", "-c", waitForCommand({ openFiles: OPEN_FILES, fileBytes: fileMebibytes * MEBIBYTE }), "sh"];
  // A runner lives as long as its session is in use: what makes its code fast is gathered from the first call on.
  return ["/opt/hlvm/bin/node", "--no-lazy-feedback-allocation", "--disable-sigusr1", RUNNER];
}
