import { existsSync, lstatSync, readlinkSync } from "node:fs";

/** On most systems links into /usr, on some folders of their own. */
const ROOT_FOLDERS = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

let found: readonly string[] | undefined;

/** bwrap arguments that show the machine's programs and libraries, read-only; looked up once. */
export function systemMounts(): readonly string[] {
  found ??= findMounts();
  return found;
}

function findMounts(): string[] {
  const roots = ROOT_FOLDERS.flatMap((name) => {
    const path = `/${name}`;
    if (!existsSync(path)) return [];
    return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
  return ["--ro-bind", "/usr", "/usr", ...roots];
}
