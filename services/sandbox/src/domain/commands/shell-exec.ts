import { StringDecoder } from "node:string_decoder";
import { ToolFailure } from "../../../runner/tool.ts";
import { WORKSPACE, workspacePath } from "../../../runner/workspace-path.ts";
import type { BackgroundProcesses } from "../background-processes.ts";
import type { HeldChanges } from "../held-changes.ts";
import type { CommandEnd, CommandSandbox, Runner, TakeOutput, ToolRun } from "../isolation.ts";
import { failedResult, type ToolResult } from "../tool-event.ts";
import { CappedText } from "./capped-text.ts";
import { exitMeaning } from "./exit-meaning.ts";
import { guarded } from "./guarded.ts";

/** What the model is shown of it: 30 KB, beginning and end. */
const SHOWN_BYTES = 30 * 1024;
/** So much of it is passed on while the command runs; what it prints beyond is counted, and the end of it kept for the result. */
const STREAMED_BYTES = 2 * 1024 * 1024;
const OUT_OF_MEMORY = "The memory limit of the sandbox was reached and the system ended a process. Use less memory.";
const NO_NUL = "A command cannot hold a NUL character.";

interface ShellExecArguments {
  readonly command: string;
  readonly working_directory?: string;
  readonly timeout_seconds?: number;
  readonly background?: boolean;
}

/** What a command runs in, and who looks after the protected paths where it may write. */
export interface CommandRoom {
  readonly sandbox: CommandSandbox;
  readonly guard: Runner | undefined;
  readonly held: HeldChanges;
  /** The workspace's path on this machine, which models are told and use. */
  readonly workspace: string;
}

export function isInBackground({ tool, argumentsJson }: ToolRun): boolean {
  return tool === "shell_exec" && (JSON.parse(argumentsJson) as ShellExecArguments).background === true;
}

/** Lets a shell command run on after its call. */
export async function startInBackground(run: ToolRun, room: CommandRoom, processes: BackgroundProcesses): Promise<ToolResult> {
  const given = JSON.parse(run.argumentsJson) as ShellExecArguments;
  const directory = directoryOf(given, room.workspace);
  if (directory !== undefined && !given.command.includes("\0")) return processes.start(run, { text: given.command, directory }, room);
  await room.sandbox.close();
  return directory === undefined ? failedResult("outside_workspace", outside(given), 0) : failedResult("invalid_arguments", NO_NUL, 0);
}

/** Runs a shell command in a sandbox of its own. Whatever goes wrong is a result that the model can act on. */
export async function runShellCommand(run: ToolRun, room: CommandRoom, takeOutput: TakeOutput, signal: AbortSignal): Promise<ToolResult> {
  const began = performance.now();
  const given = JSON.parse(run.argumentsJson) as ShellExecArguments;
  const took = (): number => Math.round(performance.now() - began);
  const directory = directoryOf(given, room.workspace);
  if (directory === undefined) return failedResult("outside_workspace", outside(given), took());
  if (given.command.includes("\0")) return failedResult("invalid_arguments", NO_NUL, took());

  const timeLimit = limitOf(given, run);
  const printed = new CappedText(SHOWN_BYTES);
  const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  const watch = {
    signal: AbortSignal.any([signal, timeLimit.signal]),
    onOutput: (stream: "stdout" | "stderr", chunk: Buffer): boolean => {
      const piece = chunk.subarray(0, Math.max(0, STREAMED_BYTES - printed.bytes));
      printed.push(chunk);
      const text = decoders[stream].write(piece);
      if (text !== "") takeOutput({ stream, text });
      return true;
    },
  };
  try {
    return await guarded(run.callId, room, async () => {
      try {
        const end = await room.sandbox.run({ text: given.command, directory }, watch);
        return { ...resultOf(given, end, printed), durationMilliseconds: took() };
      } catch (thrown) {
        if (!watch.signal.aborted) throw thrown;
        const failure = thrown instanceof ToolFailure ? thrown : new ToolFailure("cancelled", "The tool was cancelled.");
        return { ...ended(failure.errorCode, failure.message, printed), durationMilliseconds: took() };
      }
    });
  } finally {
    clearTimeout(timeLimit.timer);
  }
}

/** By its text; where it really leads, the shell in the sandbox finds out. */
function directoryOf({ working_directory: given }: ShellExecArguments, workspace: string): string | undefined {
  if (given === undefined) return WORKSPACE;
  if (/[\n\0]/.test(given)) return undefined;
  try {
    return workspacePath(given, workspace).absolute;
  } catch {
    return undefined;
  }
}

function limitOf({ timeout_seconds: seconds }: ShellExecArguments, run: ToolRun): { signal: AbortSignal; timer: NodeJS.Timeout } {
  const milliseconds = Math.min(seconds === undefined ? Infinity : seconds * 1_000, run.timeoutMilliseconds);
  const controller = new AbortController();
  const message = `The command was ended after ${milliseconds / 1_000} s. Give it less to do, or a larger timeout_seconds (at most 60).`;
  return { signal: controller.signal, timer: setTimeout(() => controller.abort(new ToolFailure("timeout", message)), milliseconds) };
}

type Untimed = Omit<ToolResult, "durationMilliseconds">;

function resultOf(given: ShellExecArguments, end: CommandEnd, printed: CappedText): Untimed {
  if (end.refusal === "folder_missing")
    return ended("not_found", `There is no folder ${given.working_directory} in the workspace.`, printed);
  if (end.refusal === "folder_outside") return ended("outside_workspace", outside(given), printed);
  if (end.outOfMemory) return { ...ended("out_of_memory", OUT_OF_MEMORY, printed), summary: "out of memory" };
  if (end.exitCode === undefined)
    return ended(
      "unavailable",
      "The sandbox ended while the command ran; what it had done so far stays. The next call gets a new sandbox.",
      printed,
    );
  return exited(given.command, end.exitCode, end.outOfProcesses, printed);
}

function exited(command: string, exitCode: number, outOfProcesses: boolean, printed: CappedText): Untimed {
  const { succeeded, words } = exitMeaning(command, exitCode);
  const text = printed.toString();
  const code = exitCode === 0 ? (text === "" ? "[no output]" : "") : `[exit code ${exitCode}${words === "" ? "" : `: ${words}`}]`;
  const full = "[The process limit of the sandbox was reached; start fewer processes at a time.]";
  return {
    success: succeeded,
    content: [code, ...(outOfProcesses && !succeeded ? [full] : [])].reduce(joined, text),
    summary: exitCode === 0 ? linesSummary(text) : `exit code ${exitCode}${words === "" ? "" : `, ${words}`}`,
    errorCode: succeeded ? "" : "command_failed",
    resultBytes: printed.bytes,
    truncated: printed.isCut,
    exitCode,
  };
}

function ended(errorCode: string, message: string, printed: CappedText): Untimed {
  return {
    success: false,
    content: joined(printed.toString(), `[${message}]`),
    summary: message,
    errorCode,
    resultBytes: printed.bytes,
    truncated: printed.isCut,
  };
}

function joined(text: string, note: string): string {
  if (note === "" || text === "") return text + note;
  return text.endsWith("\n") ? text + note : `${text}\n${note}`;
}

function linesSummary(text: string): string {
  const count = text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
  return count === 0 ? "no output" : `${count} ${count === 1 ? "line" : "lines"}`;
}

function outside({ working_directory: directory = "" }: ShellExecArguments): string {
  return `${directory} is outside the workspace. Commands start only below it; give a path relative to it.`;
}
