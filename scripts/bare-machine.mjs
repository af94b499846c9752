// `npm run bare-machine [-- start|test]`: runs the README's two commands as an ordinary user on a minimal Debian 13 that
// has only its own Node 20, npm 9 and git: a clone of the last commit, in a root file system made from Debian's packages
// and thrown away afterwards. It needs root, mmdebstrap, the network, 4 GB and some ten minutes.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { NotPrepared, orExplain, say } from "./prepare/not-prepared.mjs";
import { isOnPath } from "./prepare/programs.mjs";

const COMMANDS = { start: 'npm start -- ask "What does this repository do?"', test: "npm test" };
const USER = "newcomer";
const HOME = `/home/${USER}`;
const ENVIRONMENT = /^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i;
const NPM_SETTINGS = ["registry", "cafile", "proxy", "https-proxy"];
/** A process id and mount namespace with the new root as its own: in a plain chroot no user namespace can be made. */
const ENTER = `
set -e
mount --bind "$0" "$0"; cd "$0"
mount -t proc proc proc; mount --rbind /dev dev; mount -t tmpfs tmpfs tmp; chmod 1777 tmp
mkdir -p old; pivot_root . old; cd /; umount -l /old
exec su - ${USER} -c "bash ${HOME}/command"
`;

const checkout = dirname(dirname(fileURLToPath(import.meta.url)));
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(COMMANDS);

await orExplain(requireMeans);
const machine = mkdtempSync("/var/tmp/hlvm-bare-machine-");
process.on("exit", () => rmSync(machine, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));
await orExplain(makeMachine);
const results = [];
for (const name of names) {
  results.push(runInside(name));
  // A Ctrl-C is heard between two commands, since the first has ended with it.
  await turn();
}
for (const { name, code, seconds } of results)
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${COMMANDS[name]} (exit code ${code}, ${seconds} s)`);
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1;

function requireMeans() {
  const unknown = names.find((name) => !Object.hasOwn(COMMANDS, name));
  if (unknown !== undefined) throw new NotPrepared(`${unknown} is none of ${Object.keys(COMMANDS).join(", ")}.`);
  const missing = ["mmdebstrap", "unshare", "git"].filter((program) => !isOnPath(program));
  if (process.getuid() !== 0) missing.unshift("root's rights");
  if (missing.length > 0)
    throw new NotPrepared(
      `A bare machine cannot be made here, so nothing was tried: ${missing.join(", ")} missing. On Debian or Ubuntu, as root: apt-get install mmdebstrap util-linux git`,
    );
}

function makeMachine() {
  say(`making a minimal Debian 13 in ${machine} (about a minute) …`);
  const packages = "--include=nodejs,npm,git,ca-certificates";
  if (spawnSync("mmdebstrap", ["--quiet", "--variant=minbase", packages, "trixie", machine], { stdio: ["ignore", 2, 2] }).status !== 0)
    throw new NotPrepared("A bare machine cannot be made here, so nothing was tried; what mmdebstrap wrote above says why.");
  for (const file of ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt"]) copyInto(file);
  execFileSync("chroot", [machine, "useradd", "--create-home", "--shell", "/bin/bash", USER]);
  execFileSync("git", ["clone", "--quiet", checkout, join(machine, HOME, "hlvm")]);
  execFileSync("chroot", [machine, "chown", "-R", `${USER}:`, `${HOME}/hlvm`]);
}

function runInside(name) {
  say(`${COMMANDS[name]} …`);
  const exports = Object.entries(networkEnvironment()).map(([key, value]) => `export ${key}='${value}'\n`);
  writeFileSync(join(machine, HOME, "command"), `${exports.join("")}cd hlvm\n${COMMANDS[name]}\n`);
  const started = performance.now();
  const ended = spawnSync("unshare", ["--mount", "--pid", "--fork", "--kill-child", "bash", "-c", ENTER, machine], { stdio: "inherit" });
  return { name, code: ended.status, seconds: Math.round((performance.now() - started) / 1000) };
}

/** How this machine reaches npm's registry: the addresses and certificates, never a token. */
function networkEnvironment() {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => ENVIRONMENT.test(name)));
  for (const name of NPM_SETTINGS) {
    const value = execFileSync("npm", ["config", "get", name], { cwd: "/", encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    if (value !== "null" && value !== "") environment[`npm_config_${name.replaceAll("-", "_")}`] = value;
  }
  for (const file of [environment.npm_config_cafile, environment.NODE_EXTRA_CA_CERTS, environment.SSL_CERT_FILE])
    if (file !== undefined) copyInto(file);
  return environment;
}

function copyInto(file) {
  if (existsSync(file)) cpSync(file, join(machine, file), { dereference: true });
}
