import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

export const LLAMA_SERVER = "llama-server";

/** Elsewhere one whose `hlvm` was killed stays, and the next one is told that the port is taken. */
const WITH_THIS_PROCESS = process.platform === "linux" ? ["setpriv", "--pdeathsig", "KILL"] : [];
const STOP_MILLISECONDS = 5_000;
const LOOK_MILLISECONDS = 200;
const ANSWER_MILLISECONDS = 1_000;

export interface LlamaStart {
  readonly flags: readonly string[];
  /** Where it listens. */
  readonly url: string;
  /** Aborted: it is ended. */
  readonly interrupted: AbortSignal;
  readonly onReady: () => void;
}

export interface LlamaEnd {
  /** Whether it had loaded its model. */
  readonly wasReady: boolean;
  /** It was ended because that was wished, or without a fault. */
  readonly inOrder: boolean;
  /** "with code 1", "by SIGKILL". */
  readonly how: string;
}

/** Runs one llama-server from its start to its end. On Linux it ends with this process, also where this one is killed. */
export async function runLlamaServer({ flags, url, interrupted, onReady }: LlamaStart): Promise<LlamaEnd> {
  const [program, ...first] = [...WITH_THIS_PROCESS, LLAMA_SERVER];
  const child = spawn(program, [...first, ...flags], { stdio: ["ignore", "inherit", "inherit"] });
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const over = new AbortController();
  const kill = (): void => void child.kill("SIGKILL");
  const end = (): void => endInOrder(child, over.signal);
  process.once("exit", kill);
  interrupted.addEventListener("abort", end, { once: true });
  if (interrupted.aborted) end();
  let wasReady = false;
  const watch = async (): Promise<void> => {
    if (!(await isReady(url, over.signal)) || interrupted.aborted) return;
    wasReady = true;
    onReady();
  };
  void watch();
  try {
    const [code, signal] = await exited;
    return { wasReady, inOrder: interrupted.aborted || code === 0, how: signal === null ? `with code ${code}` : `by ${signal}` };
  } finally {
    over.abort();
    process.off("exit", kill);
    interrupted.removeEventListener("abort", end);
  }
}

function endInOrder(child: ChildProcess, over: AbortSignal): void {
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_MILLISECONDS);
  over.addEventListener("abort", () => clearTimeout(force));
}

/** Waits until it has loaded its model, or is over. Never rejects. */
async function isReady(url: string, over: AbortSignal): Promise<boolean> {
  while (!over.aborted) {
    try {
      const answer = await fetch(`${url}/health`, { signal: AbortSignal.any([over, AbortSignal.timeout(ANSWER_MILLISECONDS)]) });
      await answer.body?.cancel();
      if (answer.ok && !over.aborted) return true;
    } catch {
      // It does not listen yet.
    }
    await sleep(LOOK_MILLISECONDS, undefined, { signal: over }).catch(() => undefined);
  }
  return false;
}
