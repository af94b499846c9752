import { appendFileSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "@hlvm/mesh/make-folder";
import { jsonLine } from "../output/json-line.ts";
import { isHookTool, type HookTool } from "./hook-tool.ts";

/** One event; nothing of what was said in it. */
export interface HookLogLine {
  readonly at: string;
  readonly tool: HookTool;
  readonly event: string;
  readonly conversation: string;
  readonly live: boolean;
  readonly decision: string;
  /** Those that were found, best first, with their scores. */
  readonly facts: readonly string[];
  readonly scores: readonly number[];
  /** Those that were put before the model, or would have been. */
  readonly shown: readonly string[];
  /** The session among that, as TOOL/SESSION; empty where there is none. */
  readonly session: string;
  /** Of the block, as its mark has it; empty where there is none. */
  readonly frame: string;
  readonly would_inject: boolean;
  /** Since the process began. */
  readonly ms: number;
}

const LARGEST_BYTES = 1024 * 1024;

/** `hooks.jsonl` in the HLVM directory; what is older than its last MiB is in `hooks.jsonl.1`, and then gone. @throws Error */
export function appendHookLog(directory: string, line: HookLogLine): void {
  makeFolder(directory);
  const file = join(directory, "hooks.jsonl");
  const text = jsonLine(line);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size + Buffer.byteLength(text) > LARGEST_BYTES) renameSync(file, `${file}.1`);
  appendFileSync(file, text, { mode: 0o600 });
}

/** What is kept, the oldest first. Lines that are none are left out. */
export function readHookLog(directory: string): HookLogLine[] {
  return ["hooks.jsonl.1", "hooks.jsonl"].flatMap((name) => {
    try {
      return readFileSync(join(directory, name), "utf8").split("\n").flatMap(lineOf);
    } catch {
      return [];
    }
  });
}

function lineOf(text: string): HookLogLine[] {
  try {
    const line = JSON.parse(text) as HookLogLine;
    return isHookTool(line.tool) && typeof line.ms === "number" && Number.isFinite(Date.parse(line.at)) ? [line] : [];
  } catch {
    return [];
  }
}
