import type { LooseCommand } from "./loose-commands.ts";

const PROGRAMS = new Set(["rm", "unlink", "shred", "truncate", "dd", "srm", "wipe", "wipefs", "dropdb", "kill", "pkill", "killall"]);

/** What the words after `git` have to match, and how it is called. */
const GIT: readonly (readonly [RegExp, string])[] = [
  [/^reset\b.* --(hard|merge|keep)\b/, "git reset --hard"],
  [/^clean\b.* (-\w*f|--force)/, "git clean -f"],
  [/^checkout\b.* (--|\.|-f|--force)( |$)/, "git checkout of files"],
  [/^restore\b(?!.* (--staged|-S)( |$))/, "git restore"],
  [/^branch\b.* (-\w*[dD]|--delete)( |$)/, "git branch -d"],
  [/^tag\b.* (-d|--delete)( |$)/, "git tag -d"],
  [/^stash (drop|clear)\b/, "git stash drop"],
  [/^worktree remove\b/, "git worktree remove"],
  [/^reflog (expire|delete)\b/, "git reflog expire"],
  [/^(filter-branch|filter-repo|update-ref -d|gc --prune|rm)\b/, "git history or files removed"],
  [/^push\b.* (-d|--delete|--prune|:\S+)( |$)/, "git push --delete"],
];
const OTHERS: Readonly<Record<string, RegExp>> = {
  docker: /^((container|image|volume|network|system) )?(rm|rmi|prune)\b/,
  kubectl: /^delete\b/,
  terraform: /^destroy\b|-destroy\b/,
  helm: /^(uninstall|delete)\b/,
  npm: /^unpublish\b/,
};

/** What of it destroys something that cannot be brought back, in a few words; undefined where nothing is known to. */
export function findDestruction(commands: readonly LooseCommand[]): string | undefined {
  for (const { words } of commands) {
    const [program = "", ...rest] = words;
    if (PROGRAMS.has(program) || program.startsWith("mkfs")) return program;
    if (program === "find" && rest.includes("-delete")) return "find -delete";
    const argumentsText = rest.join(" ");
    if (program === "git") {
      const text = argumentsText.replace(/^((-C|-c) \S+ |--\S+ )+/, "");
      const found = GIT.find(([pattern]) => pattern.test(text));
      if (found !== undefined) return found[1];
    }
    if (Object.hasOwn(OTHERS, program) && OTHERS[program]!.test(argumentsText)) return `${program} ${rest[0]}`;
  }
  return undefined;
}
