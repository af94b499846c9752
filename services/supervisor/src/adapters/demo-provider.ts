import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { nodeFlags } from "@hlvm/service/node-flags";
import type { ManagedProcess } from "../domain/managed-process.ts";
import { openLog } from "./log-file.ts";

/** Run as a program: nothing of it is imported, and no image of a service holds it. */
const MAIN = fileURLToPath(new URL("../../../../libs/testing/src/oidc-provider-main.ts", import.meta.url));
const CLIENT_ID = "hlvm";
const STOP_DEADLINE_MILLISECONDS = 3_000;

export interface DemoProviderPlace {
  readonly port: number;
  readonly edgePort: number;
  readonly logFile: string;
}

export interface DemoProvider {
  readonly process: ManagedProcess;
  /** What the edge has to know of it. */
  readonly edgeEnvironment: Readonly<Record<string, string>>;
}

/** The identity provider of a demonstration: two people, and whoever opens its page chooses who they are. */
export function demoProvider({ port, edgePort, logFile }: DemoProviderPlace): DemoProvider {
  const issuer = `http://127.0.0.1:${port}`;
  const publicUrl = `http://127.0.0.1:${edgePort}`;
  const clientSecret = randomBytes(32).toString("hex");
  const options = { port, clientId: CLIENT_ID, clientSecret, redirectUris: [`${publicUrl}/auth/callback`] };
  const start = async (signal: AbortSignal) => {
    const { descriptor } = openLog(logFile);
    const child = fork(MAIN, [], {
      execArgv: nodeFlags("identity-provider"),
      stdio: ["ignore", descriptor, descriptor, "ipc"],
      detached: true,
    });
    closeSync(descriptor);
    const ended = once(child, "exit").then(([code, killedBy]) => String(killedBy ?? `code ${code}`));
    child.send(options);
    const isUp = once(child, "message", { signal }).then(() => true);
    if (!(await Promise.race([isUp, ended.then(() => false)])))
      throw new HlvmError({
        code: "unavailable",
        reason: "service_ended",
        message: `The identity provider of the demonstration (on port ${port}) ended while starting.`,
        advice: `Its log: ${logFile}`,
      });
    return { pid: child.pid!, port, ended, check: (deadline: number) => check(issuer, deadline), stop: () => stop(child, ended) };
  };
  return {
    process: { name: "identity-provider", logFile, needs: [], layer: "back", start },
    edgeEnvironment: {
      HLVM_OIDC_ISSUER: issuer,
      HLVM_OIDC_CLIENT_ID: CLIENT_ID,
      HLVM_OIDC_CLIENT_SECRET: clientSecret,
      HLVM_PUBLIC_URL: publicUrl,
      HLVM_ORGANIZATION: "acme",
    },
  };
}

async function check(issuer: string, deadlineMilliseconds: number): Promise<void> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(deadlineMilliseconds) });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`It answers ${response.status}.`);
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const immediately = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MILLISECONDS);
  await ended;
  clearTimeout(immediately);
}
