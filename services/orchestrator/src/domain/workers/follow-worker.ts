import { create } from "@bufbuild/protobuf";
import type { Principal } from "@hlvm/identity/principal";
import { UsageSchema, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { DecidingStep } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Event, RunStopped, WorkerPermission } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { addUsage } from "../loop/add-usage.ts";
import { watchSession, type WatchPorts } from "../session/watch-session.ts";

const MAXIMUM_FILES = 200;

/** What a worker came to, with what its own workers did. */
export interface WorkerEnd {
  readonly stopped: RunStopped;
  readonly usage: Usage;
  readonly turns: number;
  readonly toolCalls: number;
  /** Relative to the workspace. */
  readonly filesTouched: readonly string[];
  /** The least that anything in its context could be trusted. */
  readonly trust: Trust;
}

/** A question to a person, or the answer, from the worker itself or from one below it. */
export type AskedBelow = Pick<WorkerPermission, "agentTypes" | "check" | "childSequence">;

interface Followed {
  readonly principal: Principal;
  readonly sessionId: string;
  /** The last of the worker's events whose question was passed on. */
  readonly passedOn: bigint;
  readonly signal: AbortSignal;
}

/**
 * Reads a worker's log to its end, whoever holds the worker's run: what is there comes at once, the rest when it is written.
 * @throws HlvmError, or the signal's reason
 */
export async function followWorker(followed: Followed, ports: WatchPorts, onAsked: (asked: AskedBelow) => void): Promise<WorkerEnd> {
  const { principal, sessionId, passedOn, signal } = followed;
  const fold = new WorkerFold();
  for await (const events of watchSession({ principal, sessionId, from: 1, follow: true, signal }, ports)) {
    for (const event of events) {
      const asked = askedBelow(event);
      if (asked !== undefined && event.sequence > passedOn) onAsked(asked);
      const end = fold.add(event);
      if (end !== undefined) return end;
    }
  }
  signal.throwIfAborted();
  throw new Error(`the log of worker ${sessionId} ended before its run did`);
}

/** Only what somebody is asked, and what came of it, is of interest to who watches the parent. */
function askedBelow({ sequence, payload }: Event): AskedBelow | undefined {
  if (payload.case === "permissionCheck" && (payload.value.approval !== undefined || payload.value.step === DecidingStep.APPROVAL))
    return { agentTypes: [], check: payload.value, childSequence: sequence };
  if (payload.case === "workerPermission")
    return { agentTypes: payload.value.agentTypes, check: payload.value.check, childSequence: sequence };
  return undefined;
}

class WorkerFold {
  readonly #paths = new Map<string, string>();
  readonly #files = new Set<string>();
  #usage: Usage = create(UsageSchema);
  #turns = 0;
  #toolCalls = 0;
  #trust: Trust = Trust.INFERRED;

  add({ payload }: Event): WorkerEnd | undefined {
    switch (payload.case) {
      case "runStarted":
        this.#lower(payload.value.origin?.trustFloor?.trust);
        return undefined;
      case "toolSelected": {
        const path = writtenPath(payload.value.tool, payload.value.argumentsJson);
        if (path !== undefined) this.#paths.set(payload.value.callId, path);
        return undefined;
      }
      case "toolEnd": {
        const { callId, result } = payload.value;
        this.#lower(result?.trust);
        const path = this.#paths.get(callId);
        if (path !== undefined && result?.success === true) this.#touch(path);
        return undefined;
      }
      case "workerCompleted": {
        const { usage, turns, toolCalls, filesTouched } = payload.value;
        if (usage !== undefined) this.#usage = addUsage(this.#usage, usage);
        this.#turns += turns;
        this.#toolCalls += toolCalls;
        for (const path of filesTouched) this.#touch(path);
        return undefined;
      }
      case "runStopped": {
        const { usage, turns, toolCalls } = payload.value;
        return {
          stopped: payload.value,
          usage: usage === undefined ? this.#usage : addUsage(this.#usage, usage),
          turns: this.#turns + turns,
          toolCalls: this.#toolCalls + toolCalls,
          filesTouched: [...this.#files],
          trust: this.#trust,
        };
      }
      default:
        return undefined;
    }
  }

  #touch(path: string): void {
    if (this.#files.size < MAXIMUM_FILES) this.#files.add(path);
  }

  #lower(trust: Trust | undefined): void {
    if (trust !== undefined && trust > this.#trust) this.#trust = trust;
  }
}

function writtenPath(tool: string, argumentsJson: string): string | undefined {
  if (findNativeTool(tool)?.category !== "write") return undefined;
  try {
    const { path } = JSON.parse(argumentsJson) as { readonly path?: unknown };
    return typeof path === "string" ? path.replace(/^\/workspace\//, "") : undefined;
  } catch {
    return undefined;
  }
}
