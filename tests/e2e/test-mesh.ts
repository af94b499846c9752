import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readMeshState, type MeshState } from "@hlvm/mesh/mesh-state";
import { runProgram, type Ended, type ProgramOptions } from "./run-program.ts";

export const repositoryRoot = fileURLToPath(new URL("../../", import.meta.url));

export interface TestMesh {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly state: MeshState;
  /** Runs `hlvm …` against this mesh. */
  readonly hlvm: (programArguments: readonly string[], options?: Partial<ProgramOptions>) => Promise<Ended>;
  readonly stop: () => Promise<void>;
}

/** The environment of a person with nothing set but what is given: no provider's key, no other mesh. */
export function cleanEnvironment(directory: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env.PATH!, HOME: process.env.HOME!, HLVM_DIR: directory, HLVM_PORT: "0", NO_COLOR: "1", ...more };
}

/**
 * The whole mesh, every service its own process, in a folder of its own.
 * @param root of the checkout whose mesh and `hlvm` it is
 * @param words how it is started
 */
export async function startTestMesh(
  more: Readonly<Record<string, string>> = {},
  root: string = repositoryRoot,
  words: readonly string[] = ["up"],
): Promise<TestMesh> {
  const program = join(root, "services", "cli", "bin", "hlvm");
  const directory = mkdtempSync(join(tmpdir(), "hlvm-e2e-"));
  const environment = cleanEnvironment(directory, more);
  const up = spawn(program, words, { cwd: root, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const exited = once(up, "exit");
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: string): void => {
      said += chunk;
      if (readMeshState(directory) !== undefined && /https?:\/\//.test(said)) resolve();
    };
    up.stdout.setEncoding("utf8").on("data", look);
    up.stderr.setEncoding("utf8").on("data", look);
    void exited.then(() => reject(new Error(`The mesh did not come up:\n${said}`)));
  });
  return {
    directory,
    environment,
    state: readMeshState(directory)!,
    hlvm: (programArguments, options = {}) =>
      runProgram(program, programArguments, {
        ...options,
        cwd: options.cwd ?? directory,
        environment: { ...environment, ...options.environment },
      }),
    stop: async () => {
      up.kill("SIGINT");
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A small folder to ask about, with the files given; a git repository where `git` is true. */
export async function createWorkspace(files: Readonly<Record<string, string | Uint8Array>>, git = false): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-workspace-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  if (git) {
    const environment = { PATH: process.env.PATH!, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
    const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    for (const step of [
      ["init", "-q", "-b", "main"],
      ["add", "."],
      [...identity, "commit", "-q", "-m", "Begin"],
    ])
      await runProgram("git", step, { cwd: folder, environment });
  }
  return folder;
}

export interface Line {
  readonly type: string;
  readonly [field: string]: unknown;
  readonly event?: { readonly type: string; readonly [field: string]: unknown };
}

/** The NDJSON that a program wrote; throws where a line is none. */
export function linesOf(ended: Pick<Ended, "stdout">): Line[] {
  return ended.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

/** The events of one type in NDJSON lines. */
export function eventsOf(lines: readonly Line[], type: string): NonNullable<Line["event"]>[] {
  return lines.flatMap((line) => (line.event?.type === type ? [line.event] : []));
}
