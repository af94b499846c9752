import { randomUUID } from "node:crypto";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";

export interface Asked {
  readonly sessionId?: string;
  readonly runId?: string;
  readonly callId?: string;
  readonly tool: string;
  readonly arguments: Record<string, unknown> | string;
  readonly definitionHash?: string;
}

/** A call as the orchestrator sends it, with ids of its own where none are given. */
export function callOf({ tool, arguments: values, ...ids }: Asked) {
  return {
    sessionId: randomUUID(),
    runId: randomUUID(),
    callId: randomUUID(),
    tool,
    argumentsJson: typeof values === "string" ? values : JSON.stringify(values),
    definitionHash: definitionHash(findNativeTool(tool) ?? findNativeTool("read_file")!),
    ...ids,
  };
}

export interface Settings {
  readonly mode?: PermissionMode;
  readonly allowedTools?: string[];
  readonly disallowedTools?: string[];
  readonly canAsk?: boolean;
}

export function settingsOf(settings: Settings = {}) {
  return { mode: PermissionMode.DEFAULT, canAsk: true, ...settings };
}

export const shell = (command: string): Asked => ({ tool: "shell_exec", arguments: { command } });

/** The error that a call came to, as our own; "no error" where it came to none. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "no error",
    (thrown: unknown) => fromConnectError(thrown),
  );
}
