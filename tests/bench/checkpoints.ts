import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Checkpoints } from "@hlvm/service-sandbox/runner/checkpoints.ts";
import { printTable } from "./print-table.ts";

const FILES = 10_000;
const FILES_A_FOLDER = 50;
const BYTES = 4_000;

/** How long it takes to note a workspace of 10,000 files: the first time, when nothing has changed, and to go back; and git's way beside it. */
export function benchCheckpoints(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "hlvm-bench-"));
  try {
    const workspace = join(root, "workspace");
    for (let index = 0; index < FILES; index++) {
      const folder = join(workspace, `folder-${Math.floor(index / FILES_A_FOLDER)}`);
      if (index % FILES_A_FOLDER === 0) mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `file-${index}.ts`), `${index}\n`.padEnd(BYTES, "const value = 1;\n"));
    }
    const rows: Record<string, string | number>[] = [];
    const time = (what: string, limit: number | string, work: () => void): void => {
      const began = performance.now();
      work();
      rows.push({ what, ms: performance.now() - began, limit });
    };
    mkdirSync(join(root, "checkpoints"));
    const checkpoints = new Checkpoints(workspace, join(root, "checkpoints"));
    time("the first checkpoint", 2_000, () => checkpoints.note("run/1"));
    time("one where nothing has changed", 2_000, () => checkpoints.note(""));
    for (let index = 0; index < FILES; index += 10)
      writeFileSync(join(workspace, `folder-${Math.floor(index / FILES_A_FOLDER)}`, `file-${index}.ts`), "other");
    time("one where 1,000 files have", 2_000, () => checkpoints.note(""));
    time("1,000 files go back", "", () => void checkpoints.rewind({ turns: ["run/1"], preview: false, overwrite: false }));
    time("beside it: git add of all into an empty repository", "", () => {
      execFileSync("git", ["init", "-q", "--bare", join(root, "git")]);
      execFileSync("git", ["-c", "core.bare=false", "--git-dir", join(root, "git"), "--work-tree", workspace, "add", "--all"], {
        stdio: "ignore",
      });
    });
    printTable(`A workspace of ${FILES} files of ${BYTES} bytes`, rows);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return Promise.resolve();
}
