import type { SandboxProfile } from "@hlvm/grant/grant";
import type { ImageRoot } from "../../domain/image-root.ts";
import { protectedPaths } from "@hlvm/protected-paths/protected-paths";

export const HOME = "/home/hlvm";
const PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/hlvm/bin";
const PROTECTED_NAMES = protectedPaths.map(({ name }) => name).join("\n");

type Environment = Readonly<Record<string, string>>;

export interface RunnerEnvironment {
  /** The workspace's path on this machine, which models are told and use. */
  readonly outsidePath: string;
  /** What the runner is to find mounted. */
  readonly identity: string;
}

export function runnerEnvironment({ outsidePath, identity }: RunnerEnvironment): Environment {
  return {
    PATH,
    HOME: "/tmp",
    HLVM_WORKSPACE_OUTSIDE: outsidePath,
    HLVM_WORKSPACE_IDENTITY: identity,
    HLVM_PROTECTED_PATHS: PROTECTED_NAMES,
  };
}

/**
 * A repository's or a person's configuration may name programs: no git that a command starts runs them, or takes a folder
 * that only looks like a repository for one. What a repository's own configuration defines by name (filters, external
 * diffs) cannot be switched off from here; it is bounded by the sandbox, and that configuration is protected.
 */
const GIT_SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ["safe.bareRepository", "explicit"],
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.attributesFile", "/dev/null"],
  ["core.pager", "cat"],
  ["credential.helper", ""],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["log.showSignature", "false"],
  ["submodule.recurse", "false"],
  ["maintenance.auto", "false"],
  ["gc.auto", "0"],
];

export const gitEnvironment: Environment = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_ALLOW_PROTOCOL: "https:file",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: ":",
  GIT_SEQUENCE_EDITOR: ":",
  GIT_ASKPASS: "/bin/false",
  GIT_PAGER: "cat",
  GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
  ...Object.fromEntries(
    GIT_SETTINGS.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
};

/** Below L2, git works on the workspace's own repository and on no other, wherever a command starts it. */
const OWN_REPOSITORY: Environment = { GIT_DIR: "/workspace/.git", GIT_WORK_TREE: "/workspace" };

/** What a command sees: nothing of the machine outside, and of an image what that sets. */
export function commandEnvironment({ profile, image }: { readonly profile: SandboxProfile; readonly image?: ImageRoot }): Environment {
  const path = image?.environment.PATH ?? PATH;
  return {
    ...image?.environment,
    PATH: profile === "open" ? `${path}:${HOME}/.local/bin` : path,
    HOME,
    USER: "hlvm",
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    PAGER: "cat",
    ...gitEnvironment,
    ...(profile === "open" ? {} : OWN_REPOSITORY),
  };
}
