import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const repositoryRoot = fileURLToPath(new URL("../../", import.meta.url));

export type Layer = "service" | "lib" | "proto" | "test";

export interface WorkspacePackage {
  readonly name: string;
  /** Relative to the repository's root. */
  readonly folder: string;
  readonly layer: Layer;
  readonly dependencies: ReadonlySet<string>;
  readonly devDependencies: ReadonlySet<string>;
}

/** Files of the repository that git knows or would take, relative to its root. */
export function repositoryFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: repositoryRoot, encoding: "utf8" });
  return [...new Set(listed.split("\n"))].filter((path) => path !== "");
}

export function workspacePackages(files: readonly string[]): WorkspacePackage[] {
  return files
    .filter((path) => /^(proto|tests|(libs|services)\/[^/]+)\/package\.json$/.test(path))
    .map((path) => {
      const manifest = JSON.parse(readFileSync(join(repositoryRoot, path), "utf8")) as {
        name: string;
        nx: { tags: string[] };
        dependencies?: Record<string, string>;
        devDependencies?: Record<string, string>;
      };
      return {
        name: manifest.name,
        folder: dirname(path),
        layer: manifest.nx.tags[0]!.replace("layer:", "") as Layer,
        dependencies: new Set(Object.keys(manifest.dependencies ?? {})),
        devDependencies: new Set(Object.keys(manifest.devDependencies ?? {})),
      };
    });
}
