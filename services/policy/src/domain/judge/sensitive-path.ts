import { posix } from "node:path";

/** Folders and files that other programs obey: whoever writes them runs code later, outside what was approved. */
const SENSITIVE_SEGMENTS = new Set([
  ".git",
  ".hg",
  ".svn",
  ".vscode",
  ".idea",
  ".husky",
  ".circleci",
  ".github",
  ".devcontainer",
  ".hlvm",
  ".claude",
  ".cursor",
  ".ssh",
]);
const SENSITIVE_FILES = new Set([
  ".gitlab-ci.yml",
  ".travis.yml",
  "jenkinsfile",
  "azure-pipelines.yml",
  ".drone.yml",
  ".pre-commit-config.yaml",
  ".gitmodules",
  ".gitattributes",
  ".gitconfig",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".envrc",
  ".bashrc",
  ".bash_profile",
  ".profile",
  ".zshrc",
  ".zprofile",
  ".mcp.json",
]);

/** The part of a path that makes writing to it high risk, or undefined. Letter case does not hide it. */
export function sensitivePart(path: string): string | undefined {
  const segments = posix.normalize(path.toLowerCase().replaceAll("\\", "/")).split("/");
  const segment = segments.find((name) => SENSITIVE_SEGMENTS.has(name));
  if (segment !== undefined) return segment;
  const file = segments.at(-1) ?? "";
  return SENSITIVE_FILES.has(file) ? file : undefined;
}
