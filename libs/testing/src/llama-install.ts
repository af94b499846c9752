import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

export const CACHE = fileURLToPath(new URL("../../../.cache/llama", import.meta.url));

/** llama.cpp is in Debian from forky on; this is its CPU build with everything that it needs to run on an older one. */
const SUITE = "forky";
const PACKAGES = "libc6 libgcc-s1 libgomp1 libstdc++6 libggml0 libzstd1 libssl3t64 libllama0 llama.cpp-tools zlib1g".split(" ");
const LIBRARIES = "usr/lib/x86_64-linux-gnu";
const SOURCES = "/etc/apt/sources.list";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const INSTALL_MILLISECONDS = 180_000;

export interface LlamaInstallation {
  readonly command: string;
  readonly leadingArguments: readonly string[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * llama-server from Debian's packages, unpacked below `.cache`: nothing on the machine is changed. The machine's own sources
 * say where packages come from. Several processes may install at once: the first that is ready is kept.
 * @throws Error which says what is missing
 */
export async function installLlama(): Promise<LlamaInstallation> {
  const root = join(CACHE, "server");
  if (!existsSync(join(root, "usr/bin/llama-server"))) await install(root);
  const libraries = join(root, LIBRARIES);
  const backends = join(libraries, "ggml/backends0");
  const hasAvx2 = /\bavx2\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
  return {
    command: join(libraries, "ld-linux-x86-64.so.2"),
    leadingArguments: ["--library-path", `${libraries}:${join(libraries, "llama")}`, join(root, "usr/bin/llama-server")],
    workingDirectory: backends,
    environment: { GGML_BACKEND_PATH: join(backends, hasAvx2 ? "libggml-cpu-haswell.so" : "libggml-cpu-x64.so") },
  };
}

async function install(root: string): Promise<void> {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(`no llama-server for ${process.platform} ${process.arch} here`);
  const mirror = debianMirror();
  mkdirSync(CACHE, { recursive: true });
  const making = mkdtempSync(join(CACHE, "making-"));
  try {
    const environment = { ...process.env, APT_CONFIG: writeAptConfiguration(making, mirror), LC_ALL: "C" };
    const limits = { cwd: making, env: environment, timeout: INSTALL_MILLISECONDS };
    await run("apt-get", ["-q", "update"], limits);
    await run("apt-get", ["-q", "download", ...PACKAGES], limits);
    const unpacked = join(making, "root");
    for (const file of readdirSync(making).filter((name) => name.endsWith(".deb"))) await run("dpkg", ["-x", file, unpacked], limits);
    keep(unpacked, root);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

function keep(unpacked: string, root: string): void {
  try {
    renameSync(unpacked, root);
  } catch (cause) {
    if (!existsSync(join(root, "usr/bin/llama-server"))) throw cause;
  }
}

/** An apt of our own: its lists, its cache, a status without installed packages, and one source. */
function writeAptConfiguration(folder: string, mirror: string): string {
  for (const name of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "status"), "");
  const signedBy = existsSync(KEYRING) ? ` [signed-by=${KEYRING}]` : "";
  writeFileSync(join(folder, "sources.list"), `deb${signedBy} ${mirror} ${SUITE} main\n`);
  const settings = {
    "Dir::State::lists": join(folder, "lists"),
    "Dir::State::status": join(folder, "status"),
    "Dir::Cache": join(folder, "cache"),
    "Dir::Etc::sourcelist": join(folder, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    // Root's apt downloads as a user who may not write here.
    "APT::Sandbox::User": "root",
  };
  const path = join(folder, "apt.conf");
  writeFileSync(
    path,
    Object.entries(settings)
      .map(([name, value]) => `${name} "${value}";\n`)
      .join(""),
  );
  return path;
}

/** Where this machine gets Debian's packages from, as its own sources say. */
function debianMirror(): string {
  const folder = `${SOURCES}.d`;
  const files = [SOURCES, ...(existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [])];
  const lines = files.filter((file) => existsSync(file)).flatMap((file) => readFileSync(file, "utf8").split("\n"));
  for (const line of lines) {
    const uri = /^URIs:\s*(\S+)/.exec(line)?.[1] ?? /^deb\s+(?:\[[^\]]*\]\s*)?(\S+)/.exec(line)?.[1];
    if (uri !== undefined && /\/debian\/?$/.test(uri)) return uri;
  }
  throw new Error("this machine's apt sources name no Debian mirror");
}
