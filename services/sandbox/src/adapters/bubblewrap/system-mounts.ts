import { existsSync, lstatSync, readlinkSync } from "node:fs";

/** On most systems links into /usr, on some folders of their own. */
const ROOT_FOLDERS = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/** Of /etc only what programs need to start, to find their alternatives and to know certificates and time zone. */
const ETC_FILES = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/localtime"];

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
  return ["--ro-bind", "/usr", "/usr", ...roots, ...ETC_FILES.flatMap((path) => ["--ro-bind-try", path, path])];
}
