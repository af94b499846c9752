import { findingOf, type AttackCase } from "../attack-case.ts";
import { shell, type AttackMesh } from "../attack-mesh.ts";
import { createTrapRepository, type Trap } from "../trap-repository.ts";

const CORE = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n";
const PROMISOR = `[core]
	repositoryformatversion = 1
	bare = true
[extensions]
	partialClone = origin
[remote "origin"]
	url = "ext::GO"
	promisor = true
	partialclonefilter = blob:none
[protocol "ext"]
	allow = always
`;
const MISSING_OBJECT = "1234567890123456789012345678901234567890";

/** Reading commands over a clone that holds a trap, in plan mode, where nobody is asked. */
function trapCase(name: string, trap: Trap, commands: readonly string[]): AttackCase {
  return {
    group: "seen",
    name: `code on the host from a clone: ${name}`,
    run: async (mesh) => {
      const { workspace, sprung } = createTrapRepository(mesh, trap);
      await mesh.ask(workspace, "plan", [commands.map((command) => shell(command, { timeout_seconds: 5 }))]);
      return findingOf(sprung(), `${commands.join(", ")}: the clone is byte for byte the same, and git status outside runs nothing`);
    },
  };
}

/** What a command that was allowed leaves in the home folder, and what git then does in one that only reads. */
async function homeLeftBehind(mesh: AttackMesh): Promise<string[]> {
  const workspace = mesh.repository();
  const settings = "git config --global core.fsmonitor 'touch /workspace/ran-by-reading; false'";
  const { sessionId } = await mesh.ask(workspace, "bypassPermissions", [[shell(settings)]]);
  await mesh.ask(workspace, "plan", [[shell("git status"), { tool: "git_status", arguments: {} }]], { sessionId });
  return mesh.exists(`${workspace}/ran-by-reading`) ? ["git status ran what ~/.gitconfig of an earlier command names"] : [];
}

export const seenCloneTraps: readonly AttackCase[] = [
  trapCase("core.fsmonitor of a committed bare repository", { config: `${CORE}\tfsmonitor = "GO;false"\n` }, ["git -C vendor/x status"]),
  trapCase("diff.external", { config: `${CORE}[diff]\n\texternal = GO\n` }, [
    "git -C vendor/x diff",
    "git -C vendor/x diff --no-index a.txt config",
  ]),
  trapCase("textconv", { config: `${CORE}[diff "x"]\n\ttextconv = GO\n`, attributes: "*.txt diff=x\n" }, [
    "git -C vendor/x diff",
    "git -C vendor/x show HEAD",
    "git -C vendor/x log -p",
  ]),
  trapCase("a clean filter", { config: `${CORE}[filter "x"]\n\tclean = GO\n`, attributes: "*.txt filter=x\n" }, [
    "git -C vendor/x status",
    "git -C vendor/x diff",
  ]),
  trapCase(
    "a smudge filter",
    { config: `${CORE}[filter "x"]\n\tsmudge = GO\n[diff]\n\texternal = true\n`, attributes: "*.txt filter=x\n" },
    [
      "git -C vendor/x cat-file --filters HEAD:a.txt",
      // For a program that shows differences, the committed file is written out as it would be checked out.
      "git -C vendor/x diff",
    ],
  ),
  trapCase("lazy fetch through ext::", { config: PROMISOR }, [`git -C vendor/x cat-file -p ${MISSING_OBJECT}`]),
  {
    group: "seen",
    name: "code on the host from a clone: ~/.gitconfig left by an earlier command",
    run: async (mesh) => findingOf(await homeLeftBehind(mesh), "git reads no settings that an earlier command left"),
  },
];
