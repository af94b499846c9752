import { setTimeout as sleep } from "node:timers/promises";

/** Where Node's inspector listens once a process has got SIGUSR1. */
const INSPECTOR = "http://127.0.0.1:9229/json/list";
const DEADLINE_MILLISECONDS = 10_000;
const POLL_MILLISECONDS = 100;
const EVALUATE = { id: 1, method: "Runtime.evaluate", params: { expression: "process.pid" } };
const COLLECT = { id: 2, method: "HeapProfiler.collectGarbage" };

/**
 * Has a Node process give back the memory that it no longer needs, which it otherwise does when it has been idle for minutes.
 * @throws Error where another process listens as the inspector already
 */
export async function collectGarbage(pid: number): Promise<void> {
  process.kill(pid, "SIGUSR1");
  const socket = new WebSocket(await inspectorOf(pid));
  await new Promise((opened, failed) => {
    socket.addEventListener("open", opened);
    socket.addEventListener("error", failed);
  });
  try {
    const { result } = (await ask(socket, EVALUATE)) as { result: { value: number } };
    if (result.value !== pid) throw new Error(`The inspector is that of process ${result.value}, not of ${pid}: end that one first.`);
    await ask(socket, COLLECT);
  } finally {
    socket.close();
  }
}

async function inspectorOf(pid: number): Promise<string> {
  for (const until = performance.now() + DEADLINE_MILLISECONDS; performance.now() < until; await sleep(POLL_MILLISECONDS)) {
    const targets = await fetch(INSPECTOR, { signal: AbortSignal.timeout(DEADLINE_MILLISECONDS) }).catch(() => undefined);
    if (targets?.ok !== true) continue;
    const [target] = (await targets.json()) as { webSocketDebuggerUrl: string }[];
    if (target !== undefined) return target.webSocketDebuggerUrl;
  }
  throw new Error(`Process ${pid} opened no inspector.`);
}

async function ask(socket: WebSocket, question: { readonly id: number; readonly method: string }): Promise<unknown> {
  const answer = new Promise<unknown>((resolve) => {
    socket.addEventListener("message", ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
      if (id === question.id) resolve(result);
    });
  });
  socket.send(JSON.stringify(question));
  return answer;
}
