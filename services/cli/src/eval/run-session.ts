import { randomUUID } from "node:crypto";
import { createClient, type Transport } from "@connectrpc/connect";
import { permissionModeOf } from "@hlvm/ndjson/permission-mode";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { StopReason, type RunStopped, type ToolEnd } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { followSession } from "../run/follow-session.ts";
import { packFolder } from "../workspace/pack-folder.ts";
import { sendPack } from "../workspace/send-pack.ts";
import type { EvalSetting } from "./eval-setting.ts";
import type { EvalTask } from "./read-tasks.ts";

/** Within which a run that was cancelled ends. */
const CANCEL_MILLISECONDS = 20_000;

export interface SessionAsked {
  /** A repository of this machine, of which a copy is sent: the session sees nothing else. */
  readonly folder: string;
  readonly prompt: string;
  readonly setting: EvalSetting;
  readonly budget: EvalTask["budget"];
  /** In which its commands run; absent: with the machine's programs. */
  readonly image?: string;
  readonly signal: AbortSignal;
}

export interface SessionEnd {
  readonly sessionId: string;
  readonly stopped: Pick<RunStopped, "reason" | "message" | "turns" | "durationMilliseconds" | "cost">;
  readonly tokens: number;
  /** What of the budget was used up, which ended the run. */
  readonly exceeded?: "time" | "turns" | "tokens";
  readonly calls: readonly ToolEnd[];
  /** Calls that were denied, and those for which a person would have been asked. */
  readonly denied: number;
  readonly asked: number;
}

/** Sends a folder to a session of its own and has it answer a prompt there, within a budget. @throws HlvmError; when `signal` is aborted */
export async function runSession(transport: Transport, asked: SessionAsked): Promise<SessionEnd> {
  const { folder, prompt, setting, budget, image, signal } = asked;
  const sessions = createClient(SessionService, transport);
  const preparedSessionId = randomUUID();
  using pack = await packFolder(folder, { sendsSecrets: true, signal });
  const sending = { sessionId: preparedSessionId, pack, image, signal, onProgress: () => undefined };
  await sendPack(createClient(SandboxService, transport), sending);
  const settings = {
    mode: permissionModeOf(setting.mode),
    allowedTools: [],
    disallowedTools: [...setting.disallowedTools],
    canAsk: false,
  };
  const { model } = setting;
  const { sessionId, runId, sequence } = await sessions.startRun({ prompt, model, settings, preparedSessionId }, { signal });
  let exceeded: SessionEnd["exceeded"];
  const cancel = (): void => void sessions.cancelRun({ sessionId, runId }, { timeoutMs: CANCEL_MILLISECONDS }).catch(() => undefined);
  const exceed = (what: NonNullable<SessionEnd["exceeded"]>): void => {
    exceeded ??= what;
    cancel();
  };
  const timer = setTimeout(() => exceed("time"), budget.seconds * 1_000);
  signal.addEventListener("abort", cancel, { once: true });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(budget.seconds * 1_000 + CANCEL_MILLISECONDS)]);
  const calls: ToolEnd[] = [];
  let tokens = 0;
  let turns = 0;
  let denied = 0;
  let asking = 0;
  try {
    for await (const { payload, runId: ofRun } of followSession(sessions, {
      sessionId,
      from: sequence,
      follow: true,
      signal: limit,
      onLost: () => undefined,
    })) {
      if (ofRun !== runId) continue;
      if (payload.case === "toolEnd") calls.push(payload.value);
      if (payload.case === "permissionCheck") {
        if (payload.value.decision === Decision.DENY) denied++;
        if (payload.value.decision === Decision.ASK) asking++;
      }
      if (payload.case === "assistantMessage") turns++;
      if (payload.case === "usageUpdate")
        tokens = Number((payload.value.usage?.inputTokens ?? 0n) + (payload.value.usage?.outputTokens ?? 0n));
      if (payload.case === "assistantMessage" && payload.value.toolCalls.length > 0 && turns >= budget.turns) exceed("turns");
      if (tokens > budget.tokens) exceed("tokens");
      if (payload.case === "runStopped")
        return { sessionId, stopped: payload.value, tokens, calls, denied, asked: asking, ...(exceeded === undefined ? {} : { exceeded }) };
    }
    signal.throwIfAborted();
    const stopped = { reason: StopReason.UNSPECIFIED, message: "its log ended before it did", turns, durationMilliseconds: 0 };
    return { sessionId, stopped, tokens, calls, denied, asked: asking, exceeded: "time" };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
