import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { demandFreePort } from "../llama/demand-free-port.ts";
import { LLAMA_SERVER, runLlamaServer } from "../llama/llama-process.ts";
import { modelFile, type ModelFile } from "../llama/model-file.ts";
import { Interrupts } from "../terminal/interrupts.ts";

const LONGEST_HELP_BYTES = 8 * 1024 * 1024;
const HOST = "127.0.0.1";
const PORT = 11_439;
/** Conversations that share a memory beside the slots have been seen in each other's answers. */
const APART = ["--cache-ram", "--no-cache-idle-slots"];
/** A conversation takes over a slot only where half of it is there already: a common beginning is no reason to lose another. */
const KEEP = ["--slot-prompt-similarity", "0.5"] as const;
/** Tokens of a prompt between which the server hears that a request is gone, or goes on with the others. */
const STEP = "512";
/** One that ends so often within so long is not started once more. */
const MOST_ENDS = 3;
const ENDS_MILLISECONDS = 60_000;

interface ServedSize {
  readonly slots: number;
  readonly context: number;
}

/** Runs llama-server at 127.0.0.1:11439 until Ctrl-C; one that ends by itself is started again. */
export async function modelServe(given: string, size: ServedSize, { screen }: CommandContext): Promise<number> {
  const model = await modelFile(given);
  const flags = flagsOf(model, size, await helpText());
  using interrupts = new Interrupts();
  const ready = `A mesh on this machine finds it as local/${model.name}: hlvm ask --model local/${model.name} "…". Ctrl-C ends it.`;
  const ends: number[] = [];
  for (;;) {
    await demandFreePort(HOST, PORT);
    const start = { flags, url: `http://${HOST}:${PORT}`, interrupted: interrupts.signal, onReady: () => screen.note(ready) };
    const { inOrder, wasReady, how } = await runLlamaServer(start);
    if (inOrder) return EXIT_OK;
    if (!wasReady) throw notLoaded(given, how);
    const now = performance.now();
    ends.push(now);
    if (ends.filter((at) => at > now - ENDS_MILLISECONDS).length >= MOST_ENDS) throw endsAgain(how);
    screen.note(`${LLAMA_SERVER} was ended ${how}. It is started again.`);
  }
}

/** @throws HlvmError `llama_server_too_old` */
function flagsOf({ path, name }: ModelFile, { slots, context }: ServedSize, help: string): readonly string[] {
  const missing = APART.filter((flag) => !help.includes(flag));
  if (missing.length > 0) throw tooOld(missing);
  const model = ["--model", path, "--alias", name, "--host", HOST, "--port", String(PORT)];
  const size = ["--parallel", String(slots), "--ctx-size", String(slots * context), "--batch-size", STEP];
  const apart = ["--cache-ram", "0", "--no-cache-idle-slots", ...(help.includes(KEEP[0]) ? KEEP : [])];
  return [...model, ...size, ...apart, "--jinja", "--metrics", "--slots"];
}

/** What it says of its flags. */
async function helpText(): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(LLAMA_SERVER, ["--help"], { maxBuffer: LONGEST_HELP_BYTES });
    return stdout + stderr;
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "llama_server_missing",
      message: `${LLAMA_SERVER} on PATH cannot be run: ${messageOf(cause).split("\n")[0]}`,
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
    message: `${LLAMA_SERVER} does not know ${missing.join(" and ")}: it could not be told to keep conversations apart.`,
    advice: "Install a newer one; it is not started without them.",
  });
}

function notLoaded(path: string, how: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "model_not_loaded",
    message: `${LLAMA_SERVER} could not serve ${path}: it was ended ${how} before the model was loaded.`,
    advice: "Its own words stand above. The file may be cut (download it again), or need more memory: fewer --slots, a smaller --context.",
  });
}

function endsAgain(how: string): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "llama_server_ends",
    message: `${LLAMA_SERVER} was ended ${how}, time ${MOST_ENDS} within a minute, and is not started again.`,
    advice: "Its own words stand above; `dmesg` tells where memory was the reason.",
  });
}
