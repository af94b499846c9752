import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "@hlvm/meilisearch-binary/free-ports";
import { CACHE, installLlama, type LlamaInstallation } from "./llama-install.ts";
import { writeRandomModel, type RandomModelSize } from "./random-model.ts";

const START_MILLISECONDS = 20_000;
const STOP_MILLISECONDS = 3_000;
/** A token is a byte, and a system prompt has some thousands. */
const CONTEXT_LENGTH = 32_768;
const MODEL = "random";

export interface LlamaServer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** The model's name as the server gives it. */
  readonly model: string;
  readonly stop: () => Promise<void>;
}

export type LlamaServerAttempt = LlamaServer | { readonly unavailable: string };

export interface LlamaServerOptions {
  /** Left out: the smallest that says something. */
  readonly size?: RandomModelSize;
  readonly flags?: readonly string[];
}

/**
 * A real llama-server with a model of random weights, or why it cannot be had here. In CI it has to be had.
 * @param slots how many requests it serves at once
 */
export async function startLlamaServer(slots = 2, options: LlamaServerOptions = {}): Promise<LlamaServerAttempt> {
  try {
    return await start(slots, options);
  } catch (cause) {
    const reason = `llama-server cannot be had: ${cause instanceof Error ? cause.message : String(cause)}`;
    if (process.env.CI) throw new Error(reason, { cause });
    return { unavailable: reason };
  }
}

async function start(slots: number, { size, flags = [] }: LlamaServerOptions): Promise<LlamaServer> {
  const installation = await installLlama();
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "model-"));
  const model = join(folder, "random.gguf");
  writeRandomModel(model, size);
  const given = ["--model", model, "--alias", MODEL, "--parallel", String(slots), "--ctx-size", String(CONTEXT_LENGTH * slots)];
  return runLlamaServer(installation, [...given, ...flags], () => rmSync(folder, { recursive: true, force: true }));
}

/** @param cleanUp called once it has ended */
export async function runLlamaServer(
  { command, leadingArguments, workingDirectory, environment }: LlamaInstallation,
  flags: readonly string[],
  cleanUp: () => void,
): Promise<LlamaServer> {
  const [port] = await freePorts(1);
  const own = ["--host", "127.0.0.1", "--port", String(port), "--threads", "1", "--metrics", "--slots", "--jinja", "--no-webui"];
  const child = spawn(command, [...leadingArguments, ...own, ...flags], {
    cwd: workingDirectory,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async (): Promise<void> => {
    process.off("exit", kill);
    await end(child);
    cleanUp();
  };
  try {
    await ready(child, `http://127.0.0.1:${port}`);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { url: `http://127.0.0.1:${port}`, model: MODEL, stop };
}

async function ready(child: ChildProcess, url: string): Promise<void> {
  let said = "";
  const listening = Promise.withResolvers<void>();
  child.stderr?.on("data", (piece: Buffer) => {
    said = `${said}${piece.toString()}`.slice(-4_000);
    if (said.includes("listening on http")) listening.resolve();
  });
  child.once("error", listening.reject);
  child.once("exit", (code) => listening.reject(new Error(`it ended with ${code}: ${said.trim().split("\n").slice(-3).join(" ")}`)));
  const timeout = setTimeout(
    () => listening.reject(new Error(`it was not up within ${START_MILLISECONDS} ms: ${said.slice(-300)}`)),
    START_MILLISECONDS,
  );
  try {
    await listening.promise;
    const health = await fetch(`${url}/health`);
    if (!health.ok) throw new Error(`it says of its health: ${await health.text()}`);
  } finally {
    clearTimeout(timeout);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_MILLISECONDS);
  await exited;
  clearTimeout(force);
}
