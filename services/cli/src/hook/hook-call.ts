import { fileURLToPath } from "node:url";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { isHookTool, type HookTool } from "./hook-tool.ts";

/** How a tool calls us. */
export interface HookCall {
  readonly tool: HookTool;
  /** Whether the model gets what is found, or the log alone. */
  readonly isLive: boolean;
  /** The HLVM directory. */
  readonly home: string;
}

export const HLVM_PROGRAM = fileURLToPath(new URL("../../bin/hlvm", import.meta.url));
/** In every command of ours, and in nobody else's. */
const MARK = "/hlvm' hook run --tool ";

/**
 * The line for a tool's settings: every word of it is ours or quoted.
 * @throws HlvmError `path_not_usable`
 */
export function hookCommand({ tool, isLive, home }: HookCall, program = HLVM_PROGRAM): string {
  return `${quoted(program)} hook run --tool ${tool}${isLive ? " --live" : ""} --home ${quoted(home)}`;
}

export function isHookCommand(command: unknown): command is string {
  return typeof command === "string" && command.includes(MARK);
}

/** The program that a command of ours names, and how it calls it. */
export function readHookCommand(command: string): { readonly program: string; readonly isLive: boolean } {
  const program = command.slice(1, command.indexOf(MARK) + "/hlvm".length).replaceAll("'\\''", "'");
  return { program, isLive: command.includes(" --live --home ") };
}

/** @returns undefined where no tool is named */
export function readHookCall(words: readonly string[], home: string): HookCall | undefined {
  const after = (name: string): string | undefined => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
  const tool = after("--tool");
  return isHookTool(tool) ? { tool, isLive: words.includes("--live"), home: after("--home") ?? home } : undefined;
}

function quoted(path: string): string {
  if (/\p{Cc}/u.test(path))
    throw new HlvmError({
      code: "failed_precondition",
      reason: "path_not_usable",
      message: "HLVM lies in a folder whose name has a line's end or another control character.",
      advice: "Move it, or set HLVM_DIR to another folder.",
    });
  return `'${path.replaceAll("'", "'\\''")}'`;
}
