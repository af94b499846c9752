import { HlvmError } from "@hlvm/errors/hlvm-error";
import { EXPORT_FORMAT } from "@hlvm/ndjson/session-line";
import { eventOfLine, type Fields, type ReadEvent } from "./event-of-line.ts";

const MAXIMUM_LINES = 200_000;
const READABLE_FORMATS: ReadonlySet<unknown> = new Set(Array.from({ length: EXPORT_FORMAT }, (_, index) => index + 1));

export interface ReadExport {
  /** As the file says; empty where it does not. */
  readonly sessionId: string;
  readonly title: string;
  readonly lines: number;
  readonly events: readonly ReadEvent[];
}

/**
 * An export, checked line by line.
 * @throws HlvmError `import_invalid`, which names the line
 */
export function readExport(ndjson: string): ReadExport {
  const lines = ndjson.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > MAXIMUM_LINES) throw invalid(MAXIMUM_LINES + 1, `a file may have ${MAXIMUM_LINES} lines`);
  const head = readLine(lines[0] ?? "", 1, (fields) => {
    if (fields.type !== "session") throw new Error("the first line has to be of the type session");
    if (!READABLE_FORMATS.has(fields.format))
      throw new Error(`its format is ${JSON.stringify(fields.format)?.slice(0, 40)}, and only 1 to ${EXPORT_FORMAT} are known`);
    const text = (name: string): string => (typeof fields[name] === "string" ? fields[name] : "");
    return { sessionId: text("session_id"), title: text("title") };
  });
  const events: ReadEvent[] = [];
  let last = 0;
  for (const [index, line] of lines.entries()) {
    if (index === 0) continue;
    const event = readLine(line, index + 1, (fields) => {
      const read = eventOfLine(fields);
      if (read !== undefined && read.sequence <= last) throw new Error(`its sequence ${read.sequence} does not follow ${last}`);
      return read;
    });
    if (event === undefined) continue;
    last = event.sequence;
    events.push(event);
  }
  return { ...head, lines: lines.length, events };
}

function readLine<T>(line: string, number: number, read: (fields: Fields) => T): T {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("it is no JSON object");
    return read(value as Fields);
  } catch (cause) {
    throw invalid(number, cause instanceof SyntaxError ? "it is no JSON" : (cause as Error).message, cause);
  }
}

function invalid(line: number, why: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "import_invalid",
    message: `Line ${line} of the file cannot be imported: ${why}.`,
    advice: "Give a file that `hlvm session export ID --format ndjson` wrote. Nothing was imported.",
    cause,
  });
}
