import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { SandboxProfile } from "@hlvm/grant/grant";
import type { Isolation, SandboxRequest } from "../isolation.ts";

const COMPLAINT_CHARACTERS = 1_000;
/** Also for a large repository on a slow disk. */
const LIMIT_MILLISECONDS = 300_000;
/** A shell's, of a program that is not there. */
const NO_PROGRAM = 127;

/** `GIT_DIR` and its like are what a session's commands get; here each script says which repository it means. */
const PROLOGUE = "set -eu; unset GIT_DIR GIT_WORK_TREE; export GIT_ALLOW_PROTOCOL=none LC_ALL=C.UTF-8\n";

export interface GitScript {
  readonly text: string;
  /** Become `$1`, `$2` and so on. None of them is ever read as an option. */
  readonly words: readonly string[];
  readonly profile: SandboxProfile;
  readonly signal: AbortSignal;
  /** Return false to end the script: enough was read. */
  readonly onOutput?: (chunk: Buffer) => boolean;
}

/** How a script ended that was not cut short. */
export interface GitEnd {
  readonly exitCode: number;
  readonly complaint: string;
}

/**
 * Runs git for the service itself on folders that a stranger has filled, each script in a sandbox of its own: without network,
 * and with the settings that keep a repository from having programs run.
 */
export class SandboxedGit {
  readonly #isolation: Pick<Isolation, "startCommand">;

  constructor(isolation: Pick<Isolation, "startCommand">) {
    this.#isolation = isolation;
  }

  /** Resolves also where git fails; undefined where `onOutput` ended it. @throws HlvmError, or the reason of the signal */
  async run({ sessionId, workspace }: SandboxRequest, script: GitScript): Promise<GitEnd | undefined> {
    const sandbox = await this.#isolation.startCommand({ sessionId, workspace }, script.profile);
    let complaint = "";
    try {
      const end = await sandbox.run(
        { program: ["/bin/sh", "-c", PROLOGUE + script.text, "sh", ...script.words], directory: "/workspace" },
        {
          signal: AbortSignal.any([script.signal, AbortSignal.timeout(LIMIT_MILLISECONDS)]),
          onOutput: (stream, chunk) => {
            if (stream === "stdout") return script.onOutput?.(chunk) ?? true;
            complaint = (complaint + chunk.toString("utf8")).slice(-COMPLAINT_CHARACTERS);
            return true;
          },
        },
      );
      if (end.wasCut) return undefined;
      if (end.exitCode === NO_PROGRAM) throw noGit();
      const killed = end.outOfMemory ? "It needed more memory than a sandbox may use." : "";
      return { exitCode: end.exitCode ?? -1, complaint: `${complaint.trim()} ${killed}`.trim() };
    } finally {
      void sandbox.close();
    }
  }

  /** A script that must not fail. @throws HlvmError `workspace_git_failed`, and what `run` throws */
  async require(request: SandboxRequest, script: GitScript): Promise<void> {
    const end = await this.run(request, script);
    if (end === undefined || end.exitCode === 0) return;
    throw new HlvmError({
      code: "failed_precondition",
      reason: "workspace_git_failed",
      message: `git could not do its part: ${end.complaint || `it ended with ${end.exitCode}`}.`,
      advice: "Try it with `git fsck` on a clone of your own: a damaged repository has to be repaired first.",
    });
  }
}

function noGit(): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "git_not_installed",
    message: "git is not installed on the machine of the sandbox service.",
    advice: "Have the operator install it: `apt-get install git`.",
  });
}
