import { CappedText } from "./capped-text.ts";
import { runProcess } from "./run-process.ts";
import { toolEnvironment } from "./tool-environment.ts";
import { ToolFailure, type ToolSurroundings } from "./tool.ts";
import { WORKSPACE } from "./workspace-path.ts";

const SHOWN_BYTES = 100_000;
const READ_BYTES = 8 * 1024 * 1024;
const COMPLAINT_BYTES = 4_096;

/**
 * A repository's own configuration may name programs. None is run: no file system monitor, no hook, no pager, no signature
 * check, and no transport by which missing objects would be fetched.
 */
const WITHOUT_PROGRAMS = [
  "--no-pager",
  "--literal-pathspecs",
  "--no-optional-locks",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.quotePath=false",
  "-c",
  "core.attributesFile=/dev/null",
  "-c",
  "log.showSignature=false",
  "-c",
  "color.ui=false",
  "-c",
  "submodule.recurse=false",
];

/** Folder and work tree are named, so that neither discovery nor `core.worktree` leads elsewhere. */
const gitEnvironment = {
  ...toolEnvironment,
  GIT_DIR: `${WORKSPACE}/.git`,
  GIT_WORK_TREE: WORKSPACE,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
};

export interface GitOutput {
  readonly text: string;
  readonly bytes: number;
  readonly isCut: boolean;
  readonly exitCode: number;
  readonly complaint: string;
}

/**
 * Runs git on the workspace's repository, with filters that the repository defines switched off.
 * @throws ToolFailure `not_found` where the workspace is no repository
 */
export async function runGit(words: readonly string[], surroundings: ToolSurroundings): Promise<GitOutput> {
  const filters = await git(["config", "--null", "--name-only", "--get-regexp", "^filter\\."], surroundings);
  const output = await git([...filtersOff(filters.text), ...words], surroundings);
  if (/not a git repository/i.test(output.complaint))
    throw new ToolFailure("not_found", "The workspace is not a git repository, or its repository lies outside the workspace.");
  return output;
}

/** The answer of a git command that must not fail. */
export async function requireGit(words: readonly string[], surroundings: ToolSurroundings): Promise<GitOutput> {
  const output = await runGit(words, surroundings);
  if (output.exitCode !== 0) throw new ToolFailure("command_failed", `git ${words[0] ?? ""} failed: ${output.complaint}`);
  return output;
}

function filtersOff(names: string): string[] {
  const keys = names.split("\0").filter((name) => name !== "");
  const filters = new Set(keys.map((key) => key.slice("filter.".length, key.lastIndexOf("."))));
  return [...filters].flatMap((filter) =>
    ["clean=", "smudge=", "process=", "required=false"].flatMap((setting) => ["-c", `filter.${filter}.${setting}`]),
  );
}

async function git(words: readonly string[], { signal }: ToolSurroundings): Promise<GitOutput> {
  const text = new CappedText(SHOWN_BYTES);
  const complaint = new CappedText(COMPLAINT_BYTES);
  const request = {
    command: "git",
    arguments: [...WITHOUT_PROGRAMS, ...words],
    directory: WORKSPACE,
    environment: gitEnvironment,
    signal,
    onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => {
      (stream === "stdout" ? text : complaint).push(chunk);
      return text.bytes < READ_BYTES;
    },
  };
  const end = await runProcess(request).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "ENOENT") throw thrown;
    throw new ToolFailure("unavailable", "git is not installed on the machine of the sandbox.", thrown);
  });
  return {
    text: text.toString(),
    bytes: text.bytes,
    isCut: text.isCut,
    exitCode: end.wasCut ? 0 : (end.exitCode ?? -1),
    complaint: complaint.toString().trim(),
  };
}
