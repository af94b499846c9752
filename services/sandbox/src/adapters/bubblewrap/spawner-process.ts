// The process that starts sandboxes. The kernel copies a process's page tables when it starts another, with
// all of its threads waiting: 1 ms for this small one, 6 for the service.
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "@hlvm/errors/message-of";
import { startInGroup } from "../limits/group-entry.ts";
import { startSandboxProcess, type SandboxExit, type SandboxProcess } from "./sandbox-process.ts";
import type { FromSpawner, ToSpawner } from "./spawner-messages.ts";

/** Of one process's output that nobody has taken yet; then its pipes wait. */
const MAXIMUM_WAITING_BYTES = 1024 * 1024;

/** Longer than a sandbox takes to end, one that is being started too. */
const LONGEST_LEAVE_MILLISECONDS = 6_000;

const sandboxes = new Map<number, { readonly sandbox: SandboxProcess; waiting: number }>();
let isLeaving = false;
/** Where the service is gone, `disconnect` ends this process. */
const send = (message: FromSpawner): void => void process.send?.(message, undefined, undefined, () => undefined);

function start({ id, options, entry }: Extract<ToSpawner, { kind: "start" }>): void {
  if (isLeaving) return;
  const isRunner = options.layout.occupant.kind === "runner";
  let sandbox: SandboxProcess;
  try {
    // A command that is started in its group has nothing to wait for.
    sandbox = entry === undefined ? startSandboxProcess(options, true) : startInGroup(entry, () => startSandboxProcess(options, isRunner));
  } catch (thrown) {
    return end(id, { code: null, complaint: messageOf(thrown) });
  }
  const one = { sandbox, waiting: 0 };
  sandboxes.set(id, one);
  void sandbox.exited.then((exit) => end(id, exit));
  void tellMade(id, sandbox);
  if (isRunner) return handOver(id, sandbox.occupant as Socket);
  sandbox.occupant.setEncoding("latin1");
  sandbox.occupant.on("data", (text: string) => send({ kind: "said", id, text }));
  for (const stream of ["stdout", "stderr"] as const)
    sandbox[stream]!.on("data", (chunk: Buffer) => {
      one.waiting += chunk.length;
      if (one.waiting > MAXIMUM_WAITING_BYTES) for (const pipe of [sandbox.stdout!, sandbox.stderr]) pipe.pause();
      send({ kind: "output", id, stream, chunk });
    });
}

/** A runner's many and long messages do not go through this process. It is released by who has the descriptor: nothing is lost. */
function handOver(id: number, channel: Socket): void {
  const message: FromSpawner = { kind: "channel", id };
  process.send?.(message, channel, undefined, () => channel.destroy());
}

/** Of one that was not made, its exit tells why. */
async function tellMade(id: number, sandbox: SandboxProcess): Promise<void> {
  const processId = await sandbox.initProcess.catch(() => undefined);
  if (processId !== undefined) send({ kind: "made", id, processId });
}

function end(id: number, exit: SandboxExit): void {
  sandboxes.delete(id);
  send({ kind: "exited", id, exit });
}

/** The service is gone or wants nothing more: every sandbox is ended before this process is, also one that is being started. */
async function leave(): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
  const ended = Array.from(sandboxes.values(), ({ sandbox }) => {
    sandbox.kill();
    return sandbox.exited;
  });
  await Promise.race([Promise.all(ended), wait(LONGEST_LEAVE_MILLISECONDS)]);
  process.exit();
}

process.on("disconnect", () => void leave());
// Node tells no `disconnect` where the service is killed before it has acknowledged a descriptor. Nothing is ever written here.
process.stdin.on("close", () => void leave()).resume();
// Ctrl-C at a terminal reaches every process of the group: the service decides when its sandboxes end.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);

process.on("message", (message: ToSpawner) => {
  if (message.kind === "start") return start(message);
  const one = sandboxes.get(message.id);
  if (one === undefined) return;
  if (message.kind === "release") one.sandbox.release();
  if (message.kind === "input") one.sandbox.stdin!.end(message.text);
  if (message.kind === "kill") {
    one.sandbox.kill();
    for (const pipe of [one.sandbox.stdout, one.sandbox.stderr]) pipe?.resume();
  }
  if (message.kind === "taken") {
    one.waiting -= message.bytes;
    if (one.waiting <= MAXIMUM_WAITING_BYTES) for (const pipe of [one.sandbox.stdout!, one.sandbox.stderr]) pipe.resume();
  }
});
