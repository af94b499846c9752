import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createClient, type CallOptions, type Client } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { MemoryWorkService } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { SharingService } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import type { StartMessage } from "@hlvm/service/run-service";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

export interface OrchestratorProcess {
  readonly pid: number;
  readonly client: Client<typeof SessionService>;
  readonly spending: Client<typeof SpendingService>;
  readonly sharing: Client<typeof SharingService>;
  readonly memoryWork: Client<typeof MemoryWorkService>;
  /** What it logged so far. */
  readonly output: () => string;
  /** Call options in somebody's name. */
  readonly as: (principal: Principal, signal?: AbortSignal) => Promise<CallOptions>;
  /** Ends it with a signal and waits. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
}

/** The orchestrator as it runs in the mesh: its own process, told everything by its environment. */
export async function startOrchestratorProcess(
  environment: Readonly<Record<string, string>>,
  minter: TokenMinter,
): Promise<OrchestratorProcess> {
  const child = fork(MAIN, { env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment }, silent: true });
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const port = await portOf(child, () => output);
  const transport = createMeshTransport(`http://127.0.0.1:${port}`);
  return {
    pid: child.pid!,
    client: createClient(SessionService, transport),
    spending: createClient(SpendingService, transport),
    sharing: createClient(SharingService, transport),
    memoryWork: createClient(MemoryWorkService, transport),
    output: () => output,
    as: async (principal, signal) => ({ headers: { authorization: `Bearer ${minter.mint(principal, "orchestrator")}` }, signal }),
    stop: async (signal = "SIGTERM") => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    },
  };
}

async function portOf(child: ChildProcess, output: () => string): Promise<number> {
  const exited = once(child, "exit").then(() => {
    throw new Error(`the orchestrator ended at start:\n${output()}`);
  });
  exited.catch(() => undefined);
  const [message] = (await Promise.race([once(child, "message"), exited])) as [StartMessage];
  if (message.kind === "failed") throw new Error(message.message);
  return message.port;
}
