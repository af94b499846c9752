import { readCliConfig, type CliConfig } from "../config.ts";
import { conversationMemos } from "./conversation-memos.ts";
import { edgeAccess } from "./edge-access.ts";
import { readHookCall, type HookCall } from "./hook-call.ts";
import { appendHookLog } from "./hook-log.ts";
import { hookMemory } from "./hook-memory.ts";
import { sessionKey } from "./session-pointer.ts";
import { hookOutput, runHook, silent, type HookOutcome, type HookPorts } from "./run-hook.ts";

/** A process that a tool started for an event. */
export interface HookProcess {
  readonly words: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly input: AsyncIterable<Uint8Array>;
  readonly write: (text: string) => unknown;
  /** Milliseconds since it began. */
  readonly elapsed: () => number;
  /** Has a login that is over made anew, without waiting for it. */
  readonly renewLogin: (profile: string, directory: string) => void;
}

const DEADLINE_MILLISECONDS = 1_000;
const LARGEST_INPUT = 1024 * 1024;

/** Answers one event within a second: with something for the model where all is well, and else with as little as the tool takes. */
export async function answerHook(given: HookProcess): Promise<void> {
  const over = new AbortController();
  let call: HookCall | undefined;
  let outcome = silent("failed");
  try {
    const config = readCliConfig(given.environment);
    call = readHookCall(given.words, config.directory);
    if (call === undefined) return;
    outcome = await inTime(given, over, answer(given, { ...config, directory: call.home }, call, over.signal));
  } catch {
    call ??= readHookCall(given.words, "");
  } finally {
    over.abort();
  }
  if (call === undefined) return;
  given.write(hookOutput(call.tool, call.isLive ? outcome : { ...outcome, block: "" }));
  note(call, outcome, given.elapsed());
}

async function inTime({ elapsed }: HookProcess, over: AbortController, work: Promise<HookOutcome>): Promise<HookOutcome> {
  const left = Math.max(0, DEADLINE_MILLISECONDS - elapsed());
  const { promise: late, resolve } = Promise.withResolvers<HookOutcome>();
  const timer = setTimeout(() => resolve(silent("late")), left);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

async function answer(given: HookProcess, config: CliConfig, call: HookCall, signal: AbortSignal): Promise<HookOutcome> {
  const input = await readInput(given.input);
  if (input === undefined) return silent("not-ours");
  return runHook(call.tool, input, {
    memory: edgeMemory(config, signal, given.renewLogin),
    memos: conversationMemos(call.home, `${call.tool} ${call.isLive ? "live" : "shadow"}`),
  });
}

export function edgeMemory(config: CliConfig, signal: AbortSignal, renewLogin: HookProcess["renewLogin"]): HookPorts["memory"] {
  return () => {
    const access = edgeAccess(config);
    if (access === undefined) return "no-edge";
    if (!("expired" in access)) return hookMemory(access, signal);
    renewLogin(access.expired, config.directory);
    return "login-expired";
  };
}

/** @returns undefined where it is too large, or no text */
async function readInput(input: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    size += chunk.byteLength;
    if (size > LARGEST_INPUT) return undefined;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    return undefined;
  }
}

/** A log that cannot be written keeps nobody from their answer. */
function note(
  { tool, isLive, home }: HookCall,
  { decision, event, facts, shown, session, frame, block }: HookOutcome,
  elapsed: number,
): void {
  if (home === "") return;
  try {
    appendHookLog(home, {
      at: new Date().toISOString(),
      tool,
      event: event?.name ?? "",
      conversation: event?.conversation ?? "",
      live: isLive,
      decision,
      facts: facts.map(({ id }) => id),
      scores: facts.flatMap(({ score }) => (score === undefined ? [] : [Number(score.toFixed(3))])),
      shown: shown.map(({ id }) => id),
      session: session === undefined ? "" : sessionKey(session),
      frame,
      would_inject: block !== "",
      ms: Math.round(elapsed),
    });
  } catch {}
}
