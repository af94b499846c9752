import { spawn, type ChildProcess } from "node:child_process";
import type { Duplex, Readable, Writable } from "node:stream";
import { messageOf } from "@hlvm/errors/message-of";
import type { LimitGroup } from "../limits/sandbox-limits.ts";
import { bubblewrapArguments, descriptors, syntheticFiles, type SandboxLayout } from "./bubblewrap-arguments.ts";

const MAXIMUM_COMPLAINT_CHARACTERS = 4_096;
const MAXIMUM_INFORMATION_CHARACTERS = 4_096;

export interface SandboxProcessOptions {
  readonly bubblewrap: string;
  readonly layout: SandboxLayout;
  readonly seccompFilter: Buffer;
  readonly group: LimitGroup;
  /** Whose processes these are on this machine; left out, this process's user. */
  readonly owner?: { readonly userId: number; readonly groupId: number };
}

/** A bwrap process and what runs in it. */
export interface SandboxProcess {
  /** The runner speaks here. */
  readonly runner: Duplex;
  /** Has what is inside run, under the limits of the group. @throws Error with what bwrap said */
  readonly release: () => Promise<void>;
  /** Resolves when bwrap has ended, with what it said on standard error. */
  readonly exited: Promise<string>;
  /** Ends everything inside: bwrap's end is the end of its init process, and that the end of the process namespace. */
  readonly kill: () => void;
}

/** Starts a sandbox. bwrap makes all its mounts and waits, with nothing run, until it is released. */
export function startSandboxProcess(options: SandboxProcessOptions): SandboxProcess {
  const child = spawn(options.bubblewrap, bubblewrapArguments(options.layout), {
    stdio: ["ignore", "ignore", "pipe", ...Object.values(descriptors).map(() => "pipe" as const)],
    env: {},
    cwd: "/",
    ...(options.owner === undefined ? {} : { uid: options.owner.userId, gid: options.owner.groupId }),
  });
  const exited = exitOf(child);
  for (const stream of child.stdio) stream?.on("error", () => undefined);
  feed(child, descriptors.seccomp, options.seccompFilter);
  for (const [descriptor, text] of syntheticFiles(options.layout.userId)) feed(child, descriptor, text);
  return {
    runner: child.stdio[descriptors.runner] as Duplex,
    release: async () => {
      options.group.join(await initProcessId(child, exited));
      feed(child, descriptors.block, "x");
    },
    exited,
    kill: () => child.kill("SIGKILL"),
  };
}

function feed(child: ChildProcess, descriptor: number, content: string | Buffer): void {
  (child.stdio[descriptor] as Writable).end(content);
}

/** bwrap tells the id of the first process in the new namespaces as `{"child-pid": 42, …}`. */
function initProcessId(child: ChildProcess, exited: Promise<string>): Promise<number> {
  const information = child.stdio[descriptors.information] as Readable;
  let text = "";
  const told = new Promise<number>((resolve, reject) => {
    information.setEncoding("utf8");
    information.on("data", (piece: string) => {
      text += piece;
      const id = /"child-pid":\s*(\d+)/.exec(text)?.[1];
      if (id !== undefined && text.includes("}")) resolve(Number(id));
      else if (text.length > MAXIMUM_INFORMATION_CHARACTERS) reject(new Error("bwrap said too much of its process"));
    });
  });
  return Promise.race([told, exited.then((complaint) => Promise.reject(new Error(complaint)))]);
}

function exitOf(child: ChildProcess): Promise<string> {
  let complaint = "";
  child.stderr?.setEncoding("utf8");
  child.stderr?.on("data", (piece: string) => {
    complaint = (complaint + piece).slice(0, MAXIMUM_COMPLAINT_CHARACTERS);
  });
  return new Promise((resolve) => {
    child.once("error", (cause) => resolve(messageOf(cause)));
    child.once("close", (code, signal) => resolve(firstLine(complaint) ?? `bwrap ended with ${signal ?? `exit code ${String(code)}`}`));
  });
}

/** Of a crash the runtime prints pages; the first line with words says what it was. */
function firstLine(complaint: string): string | undefined {
  return complaint
    .split("\n")
    .find((line) => /\w/.test(line))
    ?.trim();
}
