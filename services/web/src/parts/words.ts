import { enumWord } from "@hlvm/ndjson/enum-word";
import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, StopReasonSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { Cost } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Tone } from "./state-mark.tsx";

const LEVELS: Readonly<Record<number, string>> = {
  [SafetyLevel.L0]: "L0 reads",
  [SafetyLevel.L1]: "L1 can be undone",
  [SafetyLevel.L2]: "L2 cannot be undone",
};

export function levelWord(level: SafetyLevel): string {
  return LEVELS[level] ?? "";
}

export function modeWord(mode: PermissionMode): string {
  return mode === PermissionMode.UNSPECIFIED ? "" : permissionModeWord(mode);
}

/** `user:ada` is ada. */
export function personName(principal: string): string {
  return principal.replace(/^user:/, "");
}

/** The folder's own name. */
export function folderName(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? path;
}

/** Of calls without a known price nobody says 0. */
export function costWord(cost: Cost | undefined): string {
  if (cost === undefined || (cost.nanoDollars === 0n && cost.unpricedCalls === 0)) return "";
  const dollars = `$${(Number(cost.nanoDollars) / 1e9).toFixed(2)}`;
  return cost.unpricedCalls === 0 ? dollars : cost.nanoDollars === 0n ? "unknown" : `${dollars} +`;
}

/** `1 event`, `1,514 events`. */
export function countWord(count: number | bigint, word: string): string {
  return `${count.toLocaleString()} ${word}${Number(count) === 1 ? "" : "s"}`;
}

export function secondsWord(milliseconds: number): string {
  if (milliseconds < 100) return `${milliseconds} ms`;
  return milliseconds < 60_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : `${Math.round(milliseconds / 60_000)} min`;
}

export interface StateWord {
  readonly tone: Tone;
  readonly word: string;
  readonly isLive: boolean;
}

export function sessionState(
  { runningRunId, lastStopReason }: Pick<Session, "runningRunId" | "lastStopReason">,
  isAsked: boolean,
): StateWord {
  if (isAsked) return { tone: "warn", word: "waiting for approval", isLive: false };
  if (runningRunId !== "") return { tone: "info", word: "running", isLive: true };
  return stopState(lastStopReason);
}

export function stopState(reason: StopReason): StateWord {
  if (reason === StopReason.UNSPECIFIED) return { tone: "plain", word: "new", isLive: false };
  if (reason === StopReason.COMPLETED) return { tone: "ok", word: "done", isLive: false };
  if (reason === StopReason.USER_CANCELLED) return { tone: "plain", word: "stopped by a person", isLive: false };
  return { tone: "danger", word: `stopped: ${enumWord(StopReasonSchema, reason).replaceAll("_", " ")}`, isLive: false };
}
