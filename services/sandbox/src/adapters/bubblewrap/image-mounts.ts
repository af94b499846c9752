import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { ImageRoot } from "../../domain/image-root.ts";

/** What the sandbox has of its own, or what is none of a program's business. */
const OWN = new Set(["proc", "dev", "tmp", "sys", "run", "home", "workspace"]);

/**
 * bwrap arguments that show an image's tree in the place of the machine's programs, read-only: each folder of its root by itself,
 * since nothing may be mounted below what a stranger filled (CVE-2026-87766). The folder where its files expect the workspace is a
 * link to it.
 */
export function imageMounts({ path, directory }: ImageRoot): string[] {
  const mounts = readdirSync(path)
    .filter((name) => !OWN.has(name) && `/${name}` !== directory)
    .toSorted()
    .flatMap((name) => {
      const stats = lstatSync(join(path, name));
      if (stats.isSymbolicLink()) return ["--symlink", readlinkSync(join(path, name)), `/${name}`];
      return stats.isDirectory() ? ["--ro-bind", join(path, name), `/${name}`] : [];
    });
  return directory === "" || OWN.has(directory.slice(1)) ? mounts : [...mounts, "--symlink", "/workspace", directory];
}
