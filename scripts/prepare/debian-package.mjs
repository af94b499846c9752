import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { NotPrepared, say } from "./not-prepared.mjs";
import { isOnPath, run } from "./programs.mjs";

const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };

export function isDebianLike() {
  return existsSync("/etc/debian_version") && isOnPath("apt-get");
}

/** @throws {NotPrepared} */
export function installAsRoot(name, missing) {
  say(`${missing}; installing it with \`apt-get install -y ${name}\` …`);
  const install = () => run("apt-get", ["install", "-y", "--no-install-recommends", name], options);
  if (install() || (run("apt-get", ["update"], options) && install())) return;
  throw new NotPrepared(
    `${name} could not be installed; what apt-get wrote above says why. Put that right, or install it: apt-get install ${name}`,
  );
}

/**
 * Without root: the distribution's own package, unpacked into a folder of ours. apt keeps its lists there too where the
 * machine has none.
 * @returns the folder that stands for `/` in the package
 * @throws {NotPrepared}
 */
export function unpackWithoutRoot(name, missing, packages) {
  say(`${missing}; fetching it with \`apt-get download ${name}\` into ${packages} …`);
  const lists = join(packages, "lists");
  for (const folder of [join(lists, "partial"), join(packages, "cache", "archives", "partial")])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = ["-o", `Dir::State::lists=${lists}`, "-o", `Dir::Cache=${join(packages, "cache")}`];
  const here = { ...options, cwd: packages };
  const download = (more) => run("apt-get", [...more, "-qq", "download", name], here);
  const downloaded = (holdsLists(lists) && download(own)) || (holdsLists("/var/lib/apt/lists") && download([]));
  if (!downloaded && !(run("apt-get", [...own, "-qq", "-o", "Acquire::Languages=none", "update"], here) && download(own)))
    throw new NotPrepared(`${name} could not be fetched; what apt-get wrote above says why. As root: apt-get install ${name}`);
  const file = readdirSync(packages).find((entry) => entry.startsWith(`${name}_`) && entry.endsWith(".deb"));
  if (file === undefined || !run("dpkg", ["-x", file, "root"], here))
    throw new NotPrepared(`The package ${name} could not be unpacked. As root: apt-get install ${name}`);
  return join(packages, "root");
}

function holdsLists(folder) {
  return existsSync(folder) && readdirSync(folder).some((name) => name.includes("_Packages"));
}
