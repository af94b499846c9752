// The thread that starts the sandboxes of commands: starting a process holds up the thread that does it for milliseconds.
import { parentPort } from "node:worker_threads";
import { messageOf } from "@hlvm/errors/message-of";
import { startInGroup } from "../limits/group-entry.ts";
import { startSandboxProcess, type SandboxExit, type SandboxProcess } from "./sandbox-process.ts";
import type { FromSpawner, ToSpawner } from "./spawner-messages.ts";

/** Of one process's output that nobody has taken yet; then its pipes wait. */
const MAXIMUM_WAITING_BYTES = 1024 * 1024;

const port = parentPort!;
const processes = new Map<number, { readonly process: SandboxProcess; waiting: number }>();
const send = (message: FromSpawner): void => port.postMessage(message);

function start({ id, options, entry }: Extract<ToSpawner, { kind: "start" }>): void {
  let process: SandboxProcess;
  try {
    process = entry === undefined ? startSandboxProcess(options) : startInGroup(entry, () => startSandboxProcess(options));
  } catch (thrown) {
    return end(id, { code: null, complaint: messageOf(thrown) });
  }
  const one = { process, waiting: 0 };
  processes.set(id, one);
  process.initProcess.then(
    (processId) => send({ kind: "made", id, processId }),
    () => undefined,
  );
  process.occupant.setEncoding("latin1");
  process.occupant.on("data", (text: string) => send({ kind: "said", id, text }));
  for (const stream of ["stdout", "stderr"] as const)
    process[stream]!.on("data", (chunk: Buffer) => {
      one.waiting += chunk.length;
      if (one.waiting > MAXIMUM_WAITING_BYTES) for (const pipe of [process.stdout!, process.stderr]) pipe.pause();
      send({ kind: "output", id, stream, chunk });
    });
  void process.exited.then((exit) => end(id, exit));
}

function end(id: number, exit: SandboxExit): void {
  processes.delete(id);
  send({ kind: "exited", id, exit });
}

port.on("message", (message: ToSpawner) => {
  if (message.kind === "start") return start(message);
  const one = processes.get(message.id);
  if (one === undefined) return;
  if (message.kind === "release") one.process.release();
  if (message.kind === "input") one.process.stdin!.end(message.text);
  if (message.kind === "kill") {
    one.process.kill();
    for (const pipe of [one.process.stdout!, one.process.stderr]) pipe.resume();
  }
  if (message.kind === "taken") {
    one.waiting -= message.bytes;
    if (one.waiting <= MAXIMUM_WAITING_BYTES) for (const pipe of [one.process.stdout!, one.process.stderr]) pipe.resume();
  }
});
