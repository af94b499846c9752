import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { rgPath } from "@vscode/ripgrep";
import { findTestBubblewrap } from "./find-test-bubblewrap.ts";

const FILTER_DESCRIPTOR = 3;
const ISOLATION = "--unshare-all --unshare-user --die-with-parent --new-session --cap-drop ALL --clearenv --setenv HOME /tmp".split(" ");
const MOUNTS = "--ro-bind / / --proc /proc --dev /dev --tmpfs /tmp --dir /tmp/of-the-command --chdir /tmp/of-the-command".split(" ");

/** What one command did under a filter. */
export interface FilteredRun {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a command of /bin/sh in bwrap and the filter alone: all of this machine is there, read-only; its working folder is new and empty. */
export async function runFiltered(filter: Buffer, command: string): Promise<FilteredRun> {
  const { path: bubblewrap } = await findTestBubblewrap();
  const programs = [dirname(process.execPath), dirname(rgPath)];
  const child = spawn(
    bubblewrap,
    [
      ...ISOLATION,
      "--setenv",
      "PATH",
      `${programs.join(":")}:/usr/local/bin:/usr/bin:/bin`,
      ...MOUNTS,
      ...programs.flatMap((folder) => ["--ro-bind", folder, folder]),
      "--seccomp",
      String(FILTER_DESCRIPTOR),
      "--",
      "/bin/sh",
      "-c",
      command,
    ],
    { stdio: ["ignore", "pipe", "pipe", "pipe"] },
  );
  (child.stdio[FILTER_DESCRIPTOR] as Writable).end(filter);
  const [output, errors, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "close")]);
  return { code: code as number | null, output, errors };
}
