import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonLine } from "../output/json-line.ts";
import type { ConversationMemos } from "./conversation-memos.ts";
import { readHookEvent, type HookEvent } from "./hook-event.ts";
import { firstAndSoon } from "./first-and-soon.ts";
import type { HookMemory, ScoredFact, ScoredSession } from "./hook-memory.ts";
import type { HookTool } from "./hook-tool.ts";
import { pinnedBlock, pointerBlock, type BlockFact } from "./memory-block.ts";
import { promptGate, type PromptGate } from "./prompt-gate.ts";
import { sessionKey, sessionPointer } from "./session-pointer.ts";

export type HookDecision =
  | Exclude<PromptGate, "asked">
  | "injected"
  /** No event that we answer. */
  | "not-ours"
  | "no-edge"
  | "login-expired"
  | "no-answer"
  | "nothing-found"
  | "below-gate"
  | "all-shown"
  | "enough-shown"
  | "already-there"
  | "nothing-pinned"
  | "memo-failed"
  | "late"
  | "failed";

export interface HookOutcome {
  readonly decision: HookDecision;
  readonly event?: HookEvent;
  readonly facts: readonly (BlockFact & Partial<ScoredFact>)[];
  readonly shown: readonly BlockFact[];
  /** The session that the block points to. */
  readonly session?: ScoredSession;
  readonly frame: string;
  /** What is put before the model where the hook is live. */
  readonly block: string;
}

export interface HookPorts {
  /** Where memory cannot be asked: why. */
  readonly memory: () => HookMemory | "no-edge" | "login-expired";
  readonly memos: ConversationMemos;
}

const MOST_AT_ONCE = 3;
const MOST_IN_A_CONVERSATION = 10;
/** As many as memory takes. */
const LONGEST_QUERY = 2_000;
const DEEPEST_FOLDER = 40;

/** What a hook has to say on an event, whatever that holds and whatever is away: it never throws. */
export async function runHook(tool: HookTool, input: string, ports: HookPorts): Promise<HookOutcome> {
  const event = readHookEvent(tool, input);
  if (event === undefined) return silent("not-ours");
  try {
    return { ...(await (event.kind === "prompt" ? onPrompt(event, ports) : onStart(event, ports))), event };
  } catch {
    return silent("failed", event);
  }
}

export function silent(decision: HookDecision, event?: HookEvent, facts: HookOutcome["facts"] = []): HookOutcome {
  return { decision, event, facts, shown: [], frame: "", block: "" };
}

/** What the tool reads. Codex refuses an answer with one field too many; Cursor wants one in any case. */
export function hookOutput(tool: HookTool, { event, block }: HookOutcome): string {
  if (tool === "cursor") return jsonLine(block === "" ? {} : { additional_context: block });
  if (event === undefined || block === "") return "";
  return jsonLine({ hookSpecificOutput: { hookEventName: event.name, additionalContext: block } });
}

async function onPrompt(event: HookEvent, ports: HookPorts): Promise<HookOutcome> {
  const gate = promptGate(event.prompt);
  if (gate !== "asked") return silent(gate);
  const memory = ports.memory();
  if (typeof memory === "string") return silent(memory);
  const query = event.prompt.trim().slice(0, LONGEST_QUERY).replaceAll("\0", " ").toWellFormed();
  const [facts, sessions] = await firstAndSoon(memory.search(query, projectOf(event.folder)), memory.sessions(query));
  const session = sessions?.find((one) => one.coverage >= one.gate && !isItself(event, one) && sessionPointer(one) !== undefined);
  // Each by itself: else what stands beside an answer that was shown before would follow it prompt by prompt.
  const near = facts?.filter(({ coverage, gate: least }) => coverage >= least) ?? [];
  if (near.length === 0 && session === undefined) {
    if (facts === undefined) return silent("no-answer");
    return facts.length === 0 ? silent("nothing-found") : silent("below-gate", event, facts);
  }
  return remembering(ports, event, facts ?? [], ({ shown, pointers }) => {
    const left = Math.min(MOST_AT_ONCE, MOST_IN_A_CONVERSATION - pointers);
    if (left <= 0) return "enough-shown";
    const known = new Set(shown);
    const fresh = near.filter(({ id }) => !known.has(id)).slice(0, left);
    const isFresh = session !== undefined && fresh.length < left && !known.has(sessionKey(session));
    if (fresh.length === 0 && !isFresh) return "all-shown";
    const frame = newFrame();
    const block = pointerBlock(frame, fresh, isFresh ? sessionPointer(session) : undefined);
    const shownSession = block.hasSession ? session : undefined;
    const ids = [...block.shown.map(({ id }) => id), ...(shownSession === undefined ? [] : [sessionKey(shownSession)])];
    return { frame, ...block, session: shownSession, memo: { shown: [...shown, ...ids], pointers: pointers + ids.length } };
  });
}

/** The conversation itself, or what it had another agent do. */
function isItself({ tool, conversation }: HookEvent, found: ScoredSession): boolean {
  return found.tool === tool && (found.session === conversation || found.session.startsWith(`${conversation}/`));
}

async function onStart(event: HookEvent, ports: HookPorts): Promise<HookOutcome> {
  // What was put before its model is there already.
  if (event.source === "resume") return silent("already-there");
  const memory = ports.memory();
  if (typeof memory === "string") return silent(memory);
  const pinned = await memory.pinned(projectOf(event.folder)).catch(() => undefined);
  if (pinned === undefined) return silent("no-answer");
  const { facts, moreExist } = pinned;
  return remembering(ports, event, facts, ({ pointers }) => {
    // What was shown before a compaction, or in a conversation that was cleared, is gone from it.
    const memo = { shown: facts.map(({ id }) => id), pointers: event.source === "compact" ? pointers : 0 };
    if (facts.length === 0) return { frame: "", text: "", shown: [], memo };
    const frame = newFrame();
    return { frame, text: pinnedBlock(frame, facts, moreExist), shown: facts, memo };
  });
}

interface Chosen {
  readonly frame: string;
  readonly text: string;
  readonly shown: readonly BlockFact[];
  readonly session?: ScoredSession;
  readonly memo: ReturnType<ConversationMemos["load"]>;
}

/** What cannot be noted as shown is not shown: it would come again with every prompt. */
function remembering(
  { memos }: HookPorts,
  event: HookEvent,
  facts: HookOutcome["facts"],
  choose: (memo: Chosen["memo"]) => Chosen | HookDecision,
): HookOutcome {
  let chosen: Chosen | HookDecision;
  try {
    chosen = choose(memos.load(event.conversation));
    if (typeof chosen !== "string") memos.save(event.conversation, chosen.memo);
  } catch {
    return silent("memo-failed", event, facts);
  }
  if (typeof chosen === "string") return silent(chosen, event, facts);
  if (chosen.text === "") return silent("nothing-pinned", event, facts);
  const { frame, text: block, shown, session } = chosen;
  return { decision: "injected", event, facts, shown, session, frame, block };
}

function newFrame(): string {
  return randomBytes(4).toString("hex");
}

/** The repository that a folder lies in, else the folder. */
function projectOf(folder: string): string {
  let above = folder;
  for (let depth = 0; above !== "" && depth < DEEPEST_FOLDER; depth += 1) {
    if (existsSync(join(above, ".git"))) return above;
    if (dirname(above) === above) break;
    above = dirname(above);
  }
  return folder;
}
