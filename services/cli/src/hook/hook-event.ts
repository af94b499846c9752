import { isAbsolute } from "node:path";
import type { HookTool } from "./hook-tool.ts";

/** What a tool tells a hook, as far as we need it. */
export interface HookEvent {
  readonly kind: "prompt" | "start";
  readonly tool: HookTool;
  /** As the answer has to name it. */
  readonly name: string;
  readonly conversation: string;
  /** Absolute; empty where the tool does not say. */
  readonly folder: string;
  /** Of a prompt. */
  readonly prompt: string;
  /** Of a start: startup, resume, clear or compact. */
  readonly source: string;
}

const CONVERSATION = /^[\w.:-]{1,128}$/;
const LONGEST_FOLDER = 4_096;
const KINDS: Readonly<Record<HookTool, ReadonlyMap<unknown, HookEvent["kind"]>>> = {
  "claude-code": new Map([
    ["UserPromptSubmit", "prompt"],
    ["SessionStart", "start"],
  ]),
  codex: new Map([
    ["UserPromptSubmit", "prompt"],
    ["SessionStart", "start"],
  ]),
  // Its prompts can only be let through or held, and get nothing beside them.
  cursor: new Map([["sessionStart", "start"]]),
};

/** @returns undefined for what is no event of this tool, or one that we do not answer */
export function readHookEvent(tool: HookTool, input: string): HookEvent | undefined {
  const event = objectOf(input);
  const kind = KINDS[tool].get(event?.hook_event_name);
  if (event === undefined || kind === undefined) return undefined;
  const conversation = tool === "cursor" ? (event.conversation_id ?? event.session_id) : event.session_id;
  if (typeof conversation !== "string" || !CONVERSATION.test(conversation)) return undefined;
  const { hook_event_name: name, prompt = "", source = "", cwd, workspace_roots: roots } = event;
  if (typeof prompt !== "string" || typeof source !== "string") return undefined;
  const folder: unknown = tool === "cursor" ? (Array.isArray(roots) ? roots[0] : undefined) : cwd;
  return { kind, tool, name: name as string, conversation, folder: isFolder(folder) ? folder : "", prompt, source };
}

function objectOf(input: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(input);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isFolder(folder: unknown): folder is string {
  return typeof folder === "string" && isAbsolute(folder) && !folder.includes("\0") && Buffer.byteLength(folder) <= LONGEST_FOLDER;
}
