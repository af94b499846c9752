import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { requireGit, type GitRun } from "../workspace/run-git.ts";
import type { SwebenchInstance } from "./swebench-instance.ts";

/** What the programs that run tests obey: put back as the repository had it, and removed where it had none. */
const TEST_SETTINGS = new Set(["conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"]);
/** Nothing of this machine's own settings, and no link: a plain file says where it would lead. */
const ALONE = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const PLAIN = ["-c", "core.symlinks=false", "-c", "core.autocrlf=false", "-c", "protocol.ext.allow=never"];

export interface TaskWriting {
  /** The folder of the task, which is made. */
  readonly folder: string;
  /** From where git fetches the repository. */
  readonly source: string;
  /** The names of the tests follow it. */
  readonly testCommand: string;
  readonly signal: AbortSignal;
}

/**
 * Writes a task of `hlvm eval`: the repository's files at the commit, and the files that both patches make, so that nothing a model
 * does keeps a patch from being applied. @throws HlvmError `git_failed`
 */
export async function writeTask(instance: SwebenchInstance, { folder, source, testCommand, signal }: TaskWriting): Promise<void> {
  const { id, repository, commit, problem, solutionPatch, testPatch, tests } = instance;
  const temporary = mkdtempSync(join(tmpdir(), "hlvm-swebench-"));
  const run: GitRun = { folder: temporary, signal };
  const git = (words: readonly string[], more: Partial<GitRun> & { readonly index?: string } = {}): Promise<string> =>
    requireGit([...PLAIN, ...words], {
      ...run,
      ...more,
      environment: {
        ...ALONE,
        GIT_DIR: join(temporary, "git"),
        GIT_WORK_TREE: temporary,
        ...(more.index === undefined ? {} : { GIT_INDEX_FILE: join(temporary, more.index) }),
      },
    });
  try {
    await git(["init", "-q"]);
    await git(["fetch", "-q", "--depth", "1", "--no-tags", source, commit]);
    for (const name of ["environment", "tests/files", "solution/files"]) mkdirSync(join(folder, name), { recursive: true });
    await git(["read-tree", commit], { index: "base" });
    await git(["checkout-index", "--all", `--prefix=${join(folder, "environment")}/`], { index: "base" });
    const patched = async (index: string, patch: string, also: (path: string) => boolean): Promise<string[]> => {
      await git(["read-tree", commit], { index });
      await git(["apply", "--cached", "--whitespace=nowarn", "-"], {
        index,
        input: Buffer.from(patch.endsWith("\n") ? patch : `${patch}\n`),
      });
      const changed = await git(["diff-index", "--cached", "--name-status", "--no-renames", "-z", commit], { index });
      const words = changed.split("\0");
      const [kept, removed]: string[][] = [[], []];
      for (let at = 0; at + 1 < words.length; at += 2) (words[at] === "D" ? removed : kept)!.push(words[at + 1]!);
      const all = (await git(["ls-files", "-z"], { index })).split("\0").filter((path) => path !== "" && also(path));
      const files = [...new Set([...kept!, ...all])];
      const input = Buffer.from(files.map((path) => `${path}\0`).join(""));
      await git(["checkout-index", "-z", "--stdin", `--prefix=${join(folder, index, "files")}/`], { index, input });
      return removed!;
    };
    const withoutTests = await patched("tests", testPatch, (path) => TEST_SETTINGS.has(basename(path)));
    const withoutSolution = await patched("solution", solutionPatch, () => false);
    const write = (path: string, text: string): void => writeFileSync(join(folder, path), text);
    write("instruction.md", problem);
    write("tests/test.sh", testScript(instance.id, withoutTests, `${testCommand} ${tests.map(quoted).join(" ")}`));
    write("solution/solve.sh", `here=$(dirname "$0")\n${removal(withoutSolution)}cp -R "$here/files/." .\n`);
    write("task.toml", description({ id, repository, commit }));
  } catch (thrown) {
    rmSync(folder, { recursive: true, force: true });
    throw thrown;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function testScript(id: string, removed: readonly string[], command: string): string {
  const names = [...TEST_SETTINGS].map((name) => `-name ${quoted(name)}`).join(" -o ");
  return `# Of SWE-bench's ${id}, written by \`hlvm eval import swebench\`: 0 is passed, 1 is failed.
here=$(dirname "$0")
find . \\( ${names} \\) -type f ! -path "./$here/*" ! -path './check-*' -exec rm -f -- {} +
${removal(removed)}cp -R "$here/files/." . || exit 2
${command} || exit 1
`;
}

function removal(paths: readonly string[]): string {
  return paths.map((path) => `rm -f -- ${quoted(`./${path}`)}\n`).join("");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function description(of: { readonly id: string; readonly repository: string; readonly commit: string }): string {
  const lines = Object.entries(of).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return `schema_version = "1.0"

[agent]
timeout_sec = 1800

[verifier]
timeout_sec = 60

[metadata.swebench]
${lines.join("\n")}

[metadata.hlvm]
turns = 60
tokens = 4000000
`;
}
