import type { SandboxRequest } from "../../domain/isolation.ts";
import { nodeMounts } from "./node-mounts.ts";
import { systemMounts } from "./system-mounts.ts";

const MEBIBYTE = 1024 * 1024;
const OPEN_FILES = 4_096;
/** Node sets aside 512 MiB for compiled code before it does anything. */
export const LEAST_MEBIBYTES_OF_A_PROCESS = 1_024;

/** Numbers of the descriptors that bwrap is started with. The runner's own goes through to it. */
export const descriptors = { runner: 3, information: 4, block: 5, seccomp: 6, passwd: 7, group: 8, hosts: 9 } as const;

/** What runs inside: a folder and the file in it to start. */
export interface RunnerProgram {
  readonly folder: string;
  readonly file: string;
}

export interface SandboxLayout {
  /** The folder to bind, on this machine, and what the runner is to find there. */
  readonly workspace: SandboxRequest["workspace"];
  /** Inside; outside, files belong to whoever owns the workspace. */
  readonly userId: number;
  readonly runner: RunnerProgram;
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
 */
export function bubblewrapArguments(layout: SandboxLayout): string[] {
  const { userId } = layout;
  const temporary = ["--size", String(layout.temporaryMebibytes * MEBIBYTE), "--tmpfs"];
  return [
    "--unshare-all",
    "--unshare-user",
    "--uid",
    String(userId),
    "--gid",
    String(userId),
    "--hostname",
    "hlvm",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--clearenv",
    "--setenv",
    "PATH",
    "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/hlvm/bin",
    "--setenv",
    "HOME",
    "/tmp/home",
    "--setenv",
    "HLVM_WORKSPACE_OUTSIDE",
    layout.workspace.path,
    "--setenv",
    "HLVM_WORKSPACE_IDENTITY",
    layout.workspace.identity,
    ...systemMounts(),
    "--ro-bind-data",
    String(descriptors.passwd),
    "/etc/passwd",
    "--ro-bind-data",
    String(descriptors.group),
    "/etc/group",
    "--ro-bind-data",
    String(descriptors.hosts),
    "/etc/hosts",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...temporary,
    "/dev/shm",
    ...temporary,
    "/tmp",
    "--dir",
    "/tmp/home",
    "--ro-bind",
    layout.runner.folder,
    "/opt/hlvm/runner",
    ...nodeMounts(),
    "--ro-bind",
    layout.ripgrep,
    "/opt/hlvm/bin/rg",
    "--bind",
    layout.workspace.path,
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
    "--block-fd",
    String(descriptors.block),
    "--seccomp",
    String(descriptors.seccomp),
    "--",
    "/usr/bin/prlimit",
    "--core=0",
    `--nofile=${OPEN_FILES}`,
    `--fsize=${layout.fileMebibytes * MEBIBYTE}`,
    ...(layout.perProcess === undefined
      ? []
      : [
          `--nproc=${layout.perProcess.processes}`,
          `--data=${Math.max(layout.perProcess.memoryBytes, LEAST_MEBIBYTES_OF_A_PROCESS * MEBIBYTE)}`,
        ]),
    "--",
    "/opt/hlvm/bin/node",
    // A runner lives as long as its session: what makes its code fast is gathered from the first call on.
    "--no-lazy-feedback-allocation",
    `/opt/hlvm/runner/${layout.runner.file}`,
  ];
}

/** The few system files that the sandbox gets written for it, by descriptor. */
export function syntheticFiles(userId: number): ReadonlyMap<number, string> {
  return new Map([
    [descriptors.passwd, `hlvm:x:${userId}:${userId}:HLVM:/tmp/home:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`],
    [descriptors.group, `hlvm:x:${userId}:\nnogroup:x:65534:\n`],
    [descriptors.hosts, "127.0.0.1 localhost hlvm\n::1 localhost hlvm\n"],
  ]);
}
