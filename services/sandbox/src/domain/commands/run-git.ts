import { randomUUID } from "node:crypto";
import { ToolFailure } from "../../../runner/tool.ts";
import { WORKSPACE, workspacePath } from "../../../runner/workspace-path.ts";
import type { CommandSandbox } from "../isolation.ts";
import { CappedText } from "./capped-text.ts";

const SHOWN_BYTES = 100_000;
const READ_BYTES = 8 * 1024 * 1024;
const COMPLAINT_BYTES = 4_096;
/** So many that all that switches them off fits into an environment. */
const FILTER_NAMES_BYTES = 32 * 1024;
/** `git config` where no name matches. */
const NOTHING_FOUND = 1;
/** A shell's, of a program that is not there. */
const NO_PROGRAM = 127;

/**
 * A repository's own configuration may name programs. None is run: no file system monitor, no hook, no pager, no signature
 * check, and no transport by which missing objects would be fetched.
 */
const WITHOUT_PROGRAMS = ["--no-pager", "--literal-pathspecs", "--no-optional-locks"];
/** Listed among the filters by a git that takes settings from its environment; before 2.31 none does. */
const PROBE = `filter.${randomUUID()}.clean`;
const SETTINGS: readonly Setting[] = [
  [PROBE, ""],
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.quotePath", "false"],
  ["core.attributesFile", "/dev/null"],
  ["log.showSignature", "false"],
  ["color.ui", "false"],
  ["submodule.recurse", "false"],
];

const FILTER_OFF: readonly Setting[] = [
  ["clean", ""],
  ["smudge", ""],
  ["process", ""],
  ["required", "false"],
];

type Setting = readonly [name: string, value: string];

export interface GitOutput {
  readonly text: string;
  readonly bytes: number;
  readonly isCut: boolean;
  readonly exitCode: number;
  readonly complaint: string;
}

/** git on the workspace's own repository, each run in a sandbox of its own. */
export class Git {
  readonly #take: () => Promise<CommandSandbox>;
  readonly #workspace: string;
  readonly #signal: AbortSignal;

  /** @param workspace its path on this machine, which models are told and use */
  constructor(take: () => Promise<CommandSandbox>, workspace: string, signal: AbortSignal) {
    this.#take = take;
    this.#workspace = workspace;
    this.#signal = signal;
  }

  /** A path of the model's as git takes it. @throws ToolFailure `outside_workspace` */
  pathOf(given: string): string {
    return workspacePath(given, this.#workspace).relative || ".";
  }

  /**
   * Runs git with filters that the repository defines switched off.
   * @throws ToolFailure `not_found` where the workspace is no repository, `unavailable` where not every filter can be switched off
   */
  async run(words: readonly string[]): Promise<GitOutput> {
    const filters = await this.#git(["config", "--null", "--name-only", "--get-regexp", "^filter\\."], [], FILTER_NAMES_BYTES);
    requireRepository(filters);
    const output = await this.#git(words, filtersOff(filters), SHOWN_BYTES);
    requireRepository(output);
    return output;
  }

  /** The answer of a git command that must not fail. */
  async require(words: readonly string[]): Promise<GitOutput> {
    const output = await this.run(words);
    if (output.exitCode !== 0) throw new ToolFailure("command_failed", `git ${words[0] ?? ""} failed: ${output.complaint}`);
    return output;
  }

  async #git(words: readonly string[], filters: readonly Setting[], shownBytes: number): Promise<GitOutput> {
    const text = new CappedText(shownBytes);
    const complaint = new CappedText(COMPLAINT_BYTES);
    const onOutput = (stream: "stdout" | "stderr", chunk: Buffer): boolean => {
      (stream === "stdout" ? text : complaint).push(chunk);
      return text.bytes < READ_BYTES;
    };
    const settings = environmentWith([...SETTINGS, ...filters]);
    const program = ["/usr/bin/env", ...settings, "git", ...WITHOUT_PROGRAMS, ...words];
    const sandbox = await this.#take();
    try {
      const end = await sandbox.run({ program, directory: WORKSPACE }, { signal: this.#signal, onOutput });
      if (end.exitCode === NO_PROGRAM) throw new ToolFailure("unavailable", "git is not installed on the machine of the sandbox.");
      return {
        text: text.toString(),
        bytes: text.bytes,
        isCut: text.isCut,
        exitCode: end.wasCut ? 0 : (end.exitCode ?? -1),
        complaint: complaint.toString().trim(),
      };
    } finally {
      void sandbox.close();
    }
  }
}

function requireRepository({ complaint }: GitOutput): void {
  if (/not a git repository/i.test(complaint))
    throw new ToolFailure("not_found", "The workspace is not a git repository, or its repository lies outside the workspace.");
}

function filtersOff({ text, isCut, exitCode, complaint }: GitOutput): Setting[] {
  // Each has to be named exactly, and a name that is not text cannot be.
  if (isCut || text.includes("\ufffd"))
    throw new ToolFailure(
      "unavailable",
      "git is not run: the repository defines filters, which are programs of its own, that cannot all be switched off. Use git in shell_exec.",
    );
  if (exitCode !== 0 && exitCode !== NOTHING_FOUND) throw new ToolFailure("command_failed", `git config failed: ${complaint}`);
  if (!text.includes(PROBE))
    throw new ToolFailure("unavailable", "git on the machine of the sandbox is too old: 2.31 or newer is needed. Use git in shell_exec.");
  const keys = text.split("\0").filter((name) => name !== "");
  const filters = new Set(keys.map((key) => key.slice("filter.".length, key.lastIndexOf("."))));
  return [...filters].flatMap((filter) => FILTER_OFF.map(([name, value]): Setting => [`filter.${filter}.${name}`, value]));
}

/** By the environment: `-c` takes all up to the first equals sign for the name. */
function environmentWith(settings: readonly Setting[]): string[] {
  const pairs = settings.flatMap(([key, value], index) => [`GIT_CONFIG_KEY_${index}=${key}`, `GIT_CONFIG_VALUE_${index}=${value}`]);
  return ["GIT_ALLOW_PROTOCOL=none", `GIT_CONFIG_COUNT=${settings.length}`, ...pairs];
}
