// Makes this checkout able to run: npm's packages as the lock file has them, and bubblewrap. Plain JavaScript without a
// dependency, since it runs before anything is installed, under any Node from 20 on. It writes to standard error alone.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The Node that everything of ours runs under. */
export const node = join(root, "node_modules", "node", "bin", "node");

/** The folder that npm was called from. */
export const callerDirectory = process.env.INIT_CWD ?? process.cwd();

/** Where HLVM keeps its data: HLVM_DIR, else `~/.hlvm`. */
export const hlvmDirectory = process.env.HLVM_DIR ? resolve(callerDirectory, process.env.HLVM_DIR) : join(homedir(), ".hlvm");

/** Something is missing that a person has to put right; the message says how. */
export class NotPrepared extends Error {}

/**
 * Installs what is missing, saying so.
 * @param {{directory: string}} options the HLVM directory, for a bubblewrap of our own where the machine has none
 * @throws {NotPrepared}
 */
export function prepare({ directory }) {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new NotPrepared(
      `HLVM runs on Linux x64; this is ${process.platform} ${process.arch}. Use a Linux machine, a virtual one, or WSL 2.`,
    );
  installPackages();
  installBubblewrap(directory);
}

/** Installs what only the tests need, where that can be done; the few that use it fail without it. */
export function prepareTests() {
  if (["pgrep", "pkill"].every(isOnPath)) return;
  const missing = "procps (pgrep, pkill), which some tests use, is missing";
  if (isDebianLike() && process.getuid() === 0) {
    say(`${missing}; installing it with \`apt-get install -y procps\` …`);
    if (installAsRoot("procps")) return;
  }
  say(`${missing}: those tests will fail. Install it, on Debian and Ubuntu as root with: apt-get install procps`);
}

/** Runs `work`, and ends the process in words where something is missing. */
export async function orExplain(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotPrepared)) throw error;
    say(error.message);
    process.exit(1);
  }
}

function say(line) {
  process.stderr.write(`hlvm: ${line}\n`);
}

function installPackages() {
  if (packagesAreInstalled()) return;
  say("installing the packages that package-lock.json names (npm ci; about a minute the first time) …");
  // npm must not run under the Node that it is about to replace.
  const path = searchPath().filter((folder) => !folder.endsWith(join("node_modules", ".bin")));
  const { status } = spawnSync("npm", ["ci", "--loglevel=error"], {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0)
    throw new NotPrepared(
      `npm ci failed; what it wrote above says why. Put that right and run the command again (or \`npm ci\` in ${root}).`,
    );
  if (!isExecutable(node))
    throw new NotPrepared(`npm ci did not bring Node 26 (${node}). Allow npm to run install scripts and run \`npm ci\` in ${root}.`);
}

/** Compares the lock file with the one that npm leaves in node_modules when an installation is complete. */
function packagesAreInstalled() {
  try {
    const wanted = packagesOf(join(root, "package-lock.json"));
    const installed = packagesOf(join(root, "node_modules", ".package-lock.json"));
    const missing = Object.entries(wanted).some(
      ([path, entry]) =>
        path.includes("node_modules/") && !entry.optional && (installed[path] === undefined || installed[path].version !== entry.version),
    );
    return !missing && isExecutable(node);
  } catch {
    return false;
  }
}

function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, "utf8")).packages;
}

/** One that HLVM_BWRAP names is a person's own affair; the sandbox says what is wrong with it. */
function installBubblewrap(directory) {
  if (process.env.HLVM_BWRAP) return;
  const folders = [...searchPath(), join(directory, "bin")];
  if (folders.some((folder) => isExecutable(join(folder, "bwrap")))) return;
  if (!isDebianLike())
    throw new NotPrepared(`bubblewrap, which isolates what an agent runs, is missing. Install it: ${otherSystemsCommand()}`);
  if (process.getuid() === 0) installBubblewrapAsRoot();
  else unpackBubblewrap(directory);
}

function installBubblewrapAsRoot() {
  say("bubblewrap, which isolates what an agent runs, is missing; installing it with `apt-get install -y bubblewrap` …");
  if (installAsRoot("bubblewrap")) return;
  throw new NotPrepared(
    "bubblewrap could not be installed; what apt-get wrote above says why. Put that right, or install it: apt-get install bubblewrap",
  );
}

function installAsRoot(name) {
  const install = () => run("apt-get", ["install", "-y", "--no-install-recommends", name]);
  return install() || (run("apt-get", ["update"]) && install());
}

/** Without root: the distribution's own package, unpacked into our folder. apt keeps its lists there too where it has none. */
function unpackBubblewrap(directory) {
  const packages = join(directory, "bin-packages");
  say(`bubblewrap, which isolates what an agent runs, is missing; fetching it with \`apt-get download bubblewrap\` into ${packages} …`);
  for (const folder of [
    directory,
    join(directory, "bin"),
    packages,
    join(packages, "lists", "partial"),
    join(packages, "cache", "archives", "partial"),
  ])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = [
    ["lists", "Dir::State::lists"],
    ["cache", "Dir::Cache"],
  ].flatMap(([folder, name]) => ["-o", `${name}=${join(packages, folder)}`]);
  const download = (options) => run("apt-get", [...options, "download", "bubblewrap"], packages);
  if (!download([]) && !(run("apt-get", [...own, "update"], packages) && download(own)))
    throw new NotPrepared("bubblewrap could not be fetched; what apt-get wrote above says why. As root: apt-get install bubblewrap");
  const file = readdirSync(packages).find((name) => name.startsWith("bubblewrap_") && name.endsWith(".deb"));
  if (file === undefined || !run("dpkg", ["-x", file, "root"], packages))
    throw new NotPrepared("The bubblewrap package could not be unpacked. As root: apt-get install bubblewrap");
  const link = join(directory, "bin", "bwrap");
  rmSync(link, { force: true });
  symlinkSync(join(packages, "root", "usr", "bin", "bwrap"), link);
  if (!isExecutable(link)) throw new NotPrepared(`The unpacked ${link} cannot be run. As root: apt-get install bubblewrap`);
}

function otherSystemsCommand() {
  const commands = {
    dnf: "sudo dnf install bubblewrap",
    pacman: "sudo pacman -S bubblewrap",
    zypper: "sudo zypper install bubblewrap",
    apk: "apk add bubblewrap",
  };
  const manager = Object.keys(commands).find(isOnPath);
  return manager === undefined ? "https://github.com/containers/bubblewrap" : commands[manager];
}

function isDebianLike() {
  return existsSync("/etc/debian_version") && isOnPath("apt-get");
}

function run(command, commandArguments, cwd = "/") {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync(command, commandArguments, { cwd, env, stdio: ["ignore", 2, 2] }).status === 0;
}

function searchPath() {
  return (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
}

function isOnPath(program) {
  return searchPath().some((folder) => isExecutable(join(folder, program)));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
