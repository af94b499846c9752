import { StringDecoder } from "node:string_decoder";
import { CappedText } from "../capped-text.ts";
import { currentShell } from "../current-shell.ts";
import { exitMeaning } from "../exit-meaning.ts";
import type { ProcessEnd, ProcessWatch } from "../follow-process.ts";
import { runProcess } from "../run-process.ts";
import { SHELL } from "../resident-shell.ts";
import { toolEnvironment } from "../tool-environment.ts";
import { ToolFailure, type ToolAnswer, type ToolErrorCode, type ToolSurroundings } from "../tool.ts";
import { realWorkspacePath, WORKSPACE } from "../workspace-path.ts";

/** What the model is shown of it: 30 KB, beginning and end. */
const SHOWN_BYTES = 30 * 1024;
/** A command that prints more is ended. */
const KEPT_BYTES = 2 * 1024 * 1024;

export interface ShellExecArguments {
  readonly command: string;
  readonly working_directory?: string;
  readonly timeout_seconds?: number;
}

export async function shellExec(given: ShellExecArguments, surroundings: ToolSurroundings): Promise<ToolAnswer> {
  const directory = given.working_directory === undefined ? undefined : (await realWorkspacePath(given.working_directory)).absolute;
  const seconds = given.timeout_seconds;
  const ownLimit = new AbortController();
  const timer = seconds === undefined ? undefined : setTimeout(() => ownLimit.abort(timedOut(seconds)), seconds * 1_000);
  const printed = new CappedText(SHOWN_BYTES);
  const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  try {
    const end = await runCommand(given.command, directory, {
      signal: timer === undefined ? surroundings.signal : AbortSignal.any([surroundings.signal, ownLimit.signal]),
      onOutput: (stream, chunk) => {
        const room = chunk.subarray(0, KEPT_BYTES - printed.bytes);
        printed.push(room);
        const text = decoders[stream].write(room);
        if (text !== "") surroundings.output(stream, text);
        return printed.bytes < KEPT_BYTES;
      },
    });
    return answerOf(given.command, end, printed);
  } catch (thrown) {
    if (thrown instanceof ToolFailure && (thrown.errorCode === "timeout" || thrown.errorCode === "cancelled"))
      return ended(thrown.errorCode, thrown.message, printed);
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

/** @param directory left out, the workspace's top folder */
async function runCommand(command: string, directory: string | undefined, watch: ProcessWatch): Promise<ProcessEnd> {
  watch.signal.throwIfAborted();
  const shell = directory === undefined ? currentShell.for(command) : undefined;
  const end = await shell?.run(command, watch);
  if (end !== undefined) return end;
  const own = directory ?? WORKSPACE;
  const environment = { ...toolEnvironment, PWD: own };
  return runProcess({ command: SHELL, arguments: ["-c", command], directory: own, environment, ...watch });
}

function answerOf(command: string, end: ProcessEnd, printed: CappedText): ToolAnswer {
  if (end.wasCut)
    return ended(
      "output_limit",
      `The command printed more than ${KEPT_BYTES} bytes and was ended. Print less, or write to a file.`,
      printed,
    );
  if (end.exitCode === undefined)
    return ended("command_failed", `The command was ended by the signal ${end.signal ?? "unknown"}.`, printed);
  const { succeeded, words } = exitMeaning(command, end.exitCode);
  const text = printed.toString();
  const note = end.exitCode === 0 ? (text === "" ? "[no output]" : "") : `[exit code ${end.exitCode}${words === "" ? "" : `: ${words}`}]`;
  return {
    content: joined(text, note),
    summary: end.exitCode === 0 ? linesSummary(text) : `exit code ${end.exitCode}${words === "" ? "" : `, ${words}`}`,
    errorCode: succeeded ? undefined : "command_failed",
    resultBytes: printed.bytes,
    truncated: printed.isCut,
    exitCode: end.exitCode,
  };
}

function ended(errorCode: ToolErrorCode, message: string, printed: CappedText): ToolAnswer {
  return {
    content: joined(printed.toString(), `[${message}]`),
    summary: message,
    errorCode,
    resultBytes: printed.bytes,
    truncated: printed.isCut || errorCode === "output_limit",
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

function timedOut(seconds: number): ToolFailure {
  return new ToolFailure(
    "timeout",
    `The command was ended after ${seconds} s. Give it less to do, or a larger timeout_seconds (at most 60).`,
  );
}
