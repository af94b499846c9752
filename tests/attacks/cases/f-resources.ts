import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { findingOf, notRun, type AttackCase, type Finding } from "../attack-case.ts";
import { shell, writeFile, type AttackMesh } from "../attack-mesh.ts";
import type { AttackCall } from "../attack-run.ts";

const HEALTHY_MILLISECONDS = 5_000;

/** Whether the mesh answers somebody else meanwhile or afterwards. */
async function othersUnharmed(mesh: AttackMesh): Promise<string[]> {
  const began = performance.now();
  const { calls } = await mesh.ask(mesh.workspace({ "a.txt": "a\n" }), "plan", [[shell("cat a.txt")]]);
  const took = performance.now() - began;
  if (calls[0]?.content.includes("a") !== true) return [`another session gets no answer: ${calls[0]?.content.slice(0, 80)}`];
  return took < HEALTHY_MILLISECONDS ? [] : [`another session waits for ${Math.round(took)} ms`];
}

/** Processes of this machine whose command line holds a word; those in sandboxes are seen from outside too. */
function processesWith(word: string): string[] {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "latin1").includes(word);
    } catch {
      return false;
    }
  });
}

async function processesLeft(word: string): Promise<string[]> {
  for (let tries = 0; tries < 20; tries++) {
    if (processesWith(word).length === 0) return [];
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return processesWith(word);
}

async function forkBomb(mesh: AttackMesh): Promise<Finding> {
  // Written so that no rule over its text knows it; sleeps that are found by their number, 4,000 at most.
  const bomb = "i=0; while [ $i -lt 4000 ]; do sleep 31.4151 & i=$((i+1)); done; sleep 2";
  const attacked = mesh.ask(mesh.workspace(), "bypassPermissions", [[shell(bomb, { timeout_seconds: 5 })]]);
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, processesWith("31.4151").length)), 200);
  const meanwhile = await othersUnharmed(mesh);
  await attacked;
  clearInterval(watch);
  const left = await processesLeft("31.4151");
  if (most === 0) return notRun("not one of its processes was seen");
  return findingOf(
    [
      ...meanwhile,
      ...(await othersUnharmed(mesh)),
      ...(most > 600 ? [`${most} processes at once`] : []),
      ...(left.length > 0 ? [`${left.length} processes are left`] : []),
    ],
    `capped at ${most} processes, none is left, others unharmed`,
  );
}

async function tooMuchMemory(mesh: AttackMesh): Promise<Finding> {
  // Of a pipe, tail has to keep all that it may have to print.
  const command = "head -c 1073741824 /dev/zero | tail -c 1073741824 > /dev/null && echo took it all";
  const { calls, sessionId } = await mesh.ask(mesh.workspace(), "bypassPermissions", [[shell(command, { timeout_seconds: 30 })]]);
  const isolation = await mesh.mesh.hlvm(["doctor"]);
  const [call] = calls;
  if (call!.content.includes("took it all") && /rlimit/.test(isolation.stdout))
    return notRun("without control groups the limit holds for each process and not below 1 GiB");
  const audit = await mesh.mesh.hlvm(["audit", "query", "--json", "--session", sessionId]);
  return findingOf(
    [
      ...(call!.content.includes("took it all") ? ["1 GiB was had within a limit of 256 MiB"] : []),
      ...(call!.errorCode === "out_of_memory" && audit.stdout.includes("out of memory")
        ? []
        : [`it is not on record as out of memory, but as: ${call!.errorCode}`]),
      ...(await othersUnharmed(mesh)),
    ],
    "ended, and on record as out of memory",
  );
}

async function endlessOutput(mesh: AttackMesh): Promise<Finding> {
  const { calls } = await mesh.ask(mesh.workspace(), "bypassPermissions", [
    [shell("yes 31.4152", { timeout_seconds: 2 }), shell("cat /dev/zero", { timeout_seconds: 2 })],
  ]);
  const notCut = calls.filter(({ errorCode, content }) => errorCode !== "timeout" || content.length > 100_000);
  const left = await processesLeft("31.4152");
  return findingOf(
    [
      ...notCut.map((call: AttackCall) => `${call.argumentsJson}: ${call.errorCode || "success"}, ${call.content.length} characters`),
      ...(left.length > 0 ? ["the process goes on"] : []),
    ],
    "cut, the process ended at its time limit",
  );
}

async function daemonLeft(mesh: AttackMesh): Promise<Finding> {
  const daemons = [
    "setsid sleep 31.4153 &",
    "(setsid nohup sleep 31.4153 >/dev/null 2>&1 &)",
    'node -e \'require("child_process").spawn("sleep",["31.4153"],{detached:true,stdio:"ignore"}).unref()\'; true &',
  ];
  const calls = daemons.map((daemon) => shell(`${daemon} sleep 31.4153`, { timeout_seconds: 1 }));
  await mesh.ask(mesh.workspace(), "bypassPermissions", [calls]);
  const left = await processesLeft("31.4153");
  return findingOf(left.length > 0 ? [`${left.length} processes outlive their time limit`] : [], "all of it ended with the time limit");
}

async function fullWorkspace(mesh: AttackMesh): Promise<Finding> {
  const folder = mesh.workspace();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return notRun("a small disk can only be mounted by root");
  }
  try {
    const { calls } = await mesh.ask(folder, "bypassPermissions", [
      [writeFile("big.txt", "x".repeat(1_500_000))],
      [shell("head -c 5000000 /dev/zero > big; echo exit $?; rm -f big")],
    ]);
    const [written, filled] = calls;
    return findingOf(
      [
        ...(written!.errorCode === "no_space" ? [] : [`write_file says ${written!.errorCode || "success"}`]),
        ...(filled!.content.includes("exit 1") ? [] : ["a command filled more than there is"]),
        ...(await othersUnharmed(mesh)),
      ],
      "each is told that there is no space, others unharmed",
    );
  } finally {
    execFileSync("umount", ["-l", folder]);
  }
}

export const resources: readonly AttackCase[] = [
  { group: "F", name: "a fork bomb", onlyByCommand: true, run: forkBomb },
  { group: "F", name: "1 GiB within a limit of 256 MiB", onlyByCommand: true, run: tooMuchMemory },
  { group: "F", name: "endless output", run: endlessOutput },
  { group: "F", name: "a daemon left after the time limit", run: daemonLeft },
  { group: "F", name: "a workspace that is full", run: fullWorkspace },
];
