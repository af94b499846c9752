import { fstatSync } from "node:fs";
import { addAbortSignal } from "node:stream";
import { HlvmError } from "@hlvm/errors/hlvm-error";

const MAXIMUM_BYTES = 1024 * 1024;
/** Whoever starts a command with a pipe that nobody writes to, as CI, cron and ssh do, is not kept waiting for longer. */
const SILENCE_MILLISECONDS = 3_000;

export interface PipedInputOptions {
  /** Wait for the first byte however long it takes. */
  readonly waits: boolean;
  readonly signal: AbortSignal;
  /** Called where a pipe is open and nothing came through it within 3 s. */
  readonly onSilence: () => void;
}

/**
 * What was piped or redirected into this command, to its end: text in UTF-8, at most 1 MB. Empty where standard input is a
 * terminal, a device such as /dev/null, closed, empty, or silent for 3 s and not waited for.
 * @throws HlvmError `stdin_too_large`, `stdin_not_text`, `stdin_not_readable`, `cancelled`
 */
export async function readPipedInput({ waits, signal, onSilence }: PipedInputOptions): Promise<string> {
  if (!isPiped()) return "";
  const silence = new AbortController();
  const timer = setTimeout(() => {
    onSilence();
    if (!waits) silence.abort();
  }, SILENCE_MILLISECONDS);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(AbortSignal.any([signal, silence.signal]), process.stdin) as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAXIMUM_BYTES) break;
    }
  } catch (cause) {
    if (signal.aborted)
      throw new HlvmError({ code: "cancelled", reason: "cancelled", message: "Cancelled before the run started.", cause });
    if (!silence.signal.aborted) throw notReadable(cause as Error);
    return "";
  } finally {
    clearTimeout(timer);
  }
  if (size > MAXIMUM_BYTES) throw tooLarge();
  return decode(Buffer.concat(chunks));
}

/** Neither a terminal, where questions are answered, nor a device, which may never end. */
function isPiped(): boolean {
  try {
    const input = fstatSync(0);
    return input.isFIFO() || input.isSocket() || input.isFile();
  } catch {
    return false;
  }
}

function decode(bytes: Buffer): string {
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw notText(`it holds a NUL byte, at byte ${nul + 1}`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw notText("it is not UTF-8", cause);
  }
}

function notText(why: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "stdin_not_text",
    message: `Standard input cannot be part of the question: ${why}.`,
    advice: "Pipe text in UTF-8 into hlvm ask, or nothing: < /dev/null.",
    cause,
  });
}

function tooLarge(): HlvmError {
  return new HlvmError({
    code: "resource_exhausted",
    reason: "stdin_too_large",
    message: "Standard input is larger than 1 MB.",
    advice: "Put it into a file in the workspace and name that in the question: the agent reads the parts that it needs.",
  });
}

function notReadable(cause: Error): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "stdin_not_readable",
    message: `Standard input cannot be read: ${cause.message}.`,
    advice: "Pipe text into hlvm ask, or nothing: < /dev/null.",
    cause,
  });
}
