import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { basename, resolve } from "node:path";
import { promisify } from "node:util";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { Interrupts } from "../terminal/interrupts.ts";

const PROGRAM = "llama-server";
const LONGEST_HELP_BYTES = 8 * 1024 * 1024;
const PORT = "11439";
/** Conversations that share a memory beside the slots have been seen in each other's answers. */
const APART = ["--cache-ram", "--no-cache-idle-slots"];
/** A conversation takes over a slot only where half of it is there already: a common beginning is no reason to lose another. */
const KEEP = ["--slot-prompt-similarity", "0.5"] as const;
/** Tokens of a prompt between which the server hears that a request is gone, or goes on with the others. */
const STEP = "512";
const STOP_MILLISECONDS = 5_000;

/** Runs llama-server at 127.0.0.1:11439 until it ends or Ctrl-C. */
export async function modelServe(path: string, size: { slots: number; context: number }, context: CommandContext): Promise<number> {
  const model = readable(path);
  const help = await helpText();
  const missing = APART.filter((flag) => !help.includes(flag));
  if (missing.length > 0) throw tooOld(missing);
  using interrupts = new Interrupts();
  const name = basename(model).replace(/\.gguf$/i, "");
  const flags = [
    "--model",
    model,
    "--alias",
    name,
    "--host",
    "127.0.0.1",
    "--port",
    PORT,
    "--parallel",
    String(size.slots),
    "--ctx-size",
    String(size.slots * size.context),
    "--cache-ram",
    "0",
    "--no-cache-idle-slots",
    "--batch-size",
    STEP,
    "--jinja",
    "--metrics",
    "--slots",
  ];
  if (help.includes(KEEP[0])) flags.push(...KEEP);
  const child = spawn(PROGRAM, flags, { stdio: ["ignore", "inherit", "inherit"] });
  const ended = once(child, "exit") as Promise<[number | null]>;
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  try {
    context.screen.note(`A mesh on this machine finds it as local/${name}: hlvm ask --model local/${name} "…". Ctrl-C ends it.`);
    const stopped = once(interrupts.signal, "abort").then(() => undefined);
    const exit = await (interrupts.signal.aborted ? undefined : Promise.race([ended, stopped]));
    if (exit === undefined) await end(child, ended);
    return exit === undefined || exit[0] === 0 ? EXIT_OK : EXIT_FAILED;
  } finally {
    process.off("exit", kill);
  }
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_MILLISECONDS);
  await ended;
  clearTimeout(force);
}

function readable(path: string): string {
  try {
    accessSync(path, constants.R_OK);
    return resolve(path);
  } catch (cause) {
    throw new HlvmError({
      code: "not_found",
      reason: "model_file_missing",
      message: `${path} cannot be read.`,
      advice: "Give the path of a model's .gguf file.",
      cause,
    });
  }
}

/** What it says of its flags. */
async function helpText(): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(PROGRAM, ["--help"], { maxBuffer: LONGEST_HELP_BYTES });
    return stdout + stderr;
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "llama_server_missing",
      message: `${PROGRAM} on PATH cannot be run: ${messageOf(cause).split("\n")[0]}`,
      advice:
        "Install it: `apt-get install llama.cpp-tools` (Debian from 14 on), `brew install llama.cpp`, or from https://github.com/ggml-org/llama.cpp.",
      cause,
    });
  }
}

function tooOld(missing: readonly string[]): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "llama_server_too_old",
    message: `${PROGRAM} does not know ${missing.join(" and ")}: it could not be told to keep conversations apart.`,
    advice: "Install a newer one; it is not started without them.",
  });
}
