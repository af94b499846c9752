import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** A folder that was unpacked from anywhere may name programs in its configuration; none of these is needed here. */
const SETTINGS = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false"];
const USUAL = { GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
/** Of `env`, where there is no git. */
const NO_PROGRAM = 127;
const COMPLAINT_CHARACTERS = 1_000;

export interface GitRun {
  readonly folder: string;
  /** Besides this process's own. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
  /** Takes what git prints, instead of the caller. */
  readonly outputFile?: string;
  readonly signal?: AbortSignal;
}

export interface GitOutput {
  readonly exitCode: number;
  readonly output: Buffer;
  readonly complaint: string;
}

/** Runs this machine's git. @throws HlvmError `git_not_installed` */
export async function runGit(
  words: readonly string[],
  { folder, environment = {}, input, outputFile, signal }: GitRun,
): Promise<GitOutput> {
  // `env` adds to what this process was started with.
  const program = [...Object.entries({ ...USUAL, ...environment }).map(([name, value]) => `${name}=${value}`), "git"];
  const child = spawn("env", [...program, ...SETTINGS, ...words], { cwd: folder, signal, stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(child, "close") as Promise<[number | null]>;
  const chunks: Buffer[] = [];
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-COMPLAINT_CHARACTERS)));
  child.stdin.on("error", () => undefined).end(input);
  const written = outputFile === undefined ? undefined : pipeline(child.stdout, createWriteStream(outputFile, { mode: 0o600 }));
  written?.catch(() => undefined);
  if (outputFile === undefined) child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = await closed;
  await written;
  if (code === NO_PROGRAM) throw noGit();
  return { exitCode: code ?? -1, output: Buffer.concat(chunks), complaint: complaint.trim() };
}

function noGit(): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "git_not_installed",
    message: "git is not installed on this machine.",
    advice: "Install it: `apt-get install git`.",
  });
}

/** What git prints where it must not fail, without the line feed at its end. @throws HlvmError `git_failed` */
export async function requireGit(words: readonly string[], run: GitRun): Promise<string> {
  const { exitCode, output, complaint } = await runGit(words, run);
  if (exitCode === 0) return output.toString("utf8").replace(/\n$/, "");
  throw new HlvmError({
    code: "failed_precondition",
    reason: "git_failed",
    message: `git ${words[0] ?? ""} failed in ${run.folder}: ${complaint || `exit code ${exitCode}`}`,
    advice: "Run it in that folder to see more; `git fsck` tells whether the repository is damaged.",
  });
}

/** The top folder of the repository that this folder is in; undefined where it is in none. */
export async function topFolder(folder: string, signal?: AbortSignal): Promise<string | undefined> {
  const { exitCode, output } = await runGit(["rev-parse", "--show-toplevel"], { folder, signal });
  return exitCode === 0 ? output.toString("utf8").replace(/\n$/, "") : undefined;
}
