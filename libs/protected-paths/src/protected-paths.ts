/**
 * Who executes, or obeys, a file of a workspace without being asked again: whoever writes it has code run later, outside of
 * the sandbox and outside of what was approved.
 */
export type Obeyer = "git" | "editor" | "agent" | "shell" | "package manager" | "CI";

export interface ProtectedPath {
  /** Of a file or of a folder with all that it holds, in lower case: some file systems know no case. */
  readonly name: string;
  readonly obeyer: Obeyer;
}

const named = (obeyer: Obeyer, names: string): ProtectedPath[] => names.split(/\s+/).map((name) => ({ name, obeyer }));

/**
 * The one list, by the name of a path's segment, at any depth. Sources: the documentation of each program on where it
 * looks for settings, hooks and tasks of a project (git-config, githooks, gitattributes; VS Code, JetBrains, Zed, Vim, Emacs;
 * Claude Code, Codex, Cursor, Gemini, Windsurf, Cline, Roo, Aider, Continue, Kiro, opencode, MCP; direnv, mise, asdf; npm,
 * Yarn, pnpm, pip, Cargo; the CI services), as of November 2026.
 */
export const protectedPaths: readonly ProtectedPath[] = [
  ...named("git", ".git .gitmodules .gitattributes .gitconfig .hg .svn .jj .husky .pre-commit-config.yaml lefthook.yml .lefthook.yml"),
  ...named("editor", ".vscode .vscode-server .idea .fleet .zed .nova .vs .vim .nvim .exrc .vimrc .nvimrc .nvim.lua"),
  ...named("editor", ".dir-locals.el .devcontainer .devcontainer.json"),
  ...named("agent", ".hlvm .claude .codex .cursor .cursorrules .gemini .windsurf .windsurfrules .clinerules .roo .roomodes .kiro .amazonq"),
  ...named("agent", ".continue .aider.conf.yml .opencode opencode.json .goose .agents .augment .mcp.json mcp.json .codeium .trae .junie"),
  ...named("shell", ".envrc .mise.toml mise.toml .tool-versions .bashrc .bash_profile .bash_login .profile .zshrc .zshenv .zprofile"),
  ...named("shell", ".ssh .gnupg .config"),
  ...named("package manager", ".npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pypirc pip.conf .cargo .bundle .gemrc"),
  ...named("CI", ".github .gitlab .gitlab-ci.yml .circleci .travis.yml .drone.yml .drone.star .buildkite .teamcity .woodpecker"),
  ...named("CI", ".woodpecker.yml .semaphore .forgejo .gitea .azure-pipelines azure-pipelines.yml azure-pipelines.yaml jenkinsfile"),
  ...named(
    "CI",
    "bitbucket-pipelines.yml appveyor.yml .appveyor.yml .cirrus.yml .cirrus.star cloudbuild.yaml cloudbuild.yml buildspec.yml",
  ),
  ...named("CI", "wercker.yml .sourcehut .build.yml .builds codefresh.yml .tekton .argo .earthly"),
];

const byName = new Map(protectedPaths.map((path) => [path.name, path]));

/**
 * The first part of a path that is on the list, or undefined. Neither letter case nor backslashes hide it; links do, so that
 * whoever enforces the list asks with the path as it resolved when it was opened.
 */
export function protectedPart(path: string): ProtectedPath | undefined {
  for (const segment of path.toLowerCase().split(/[/\\]+/)) {
    const found = byName.get(segment);
    if (found !== undefined) return found;
  }
  return undefined;
}
