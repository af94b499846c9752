import { runProcess, type ProcessEnd } from "./run-process.ts";

const COMPLAINT_CHARACTERS = 4_096;
/** A line longer than this is taken in pieces. */
const MAXIMUM_LINE_BYTES = 64 * 1024;

export interface LinesRequest {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Return false when enough was read: the program is ended. */
  readonly onLine: (line: string) => boolean;
}

/** Runs a program and takes its output line by line, however much it prints. */
export async function readLines(request: LinesRequest): Promise<ProcessEnd & { readonly complaint: string }> {
  let complaint = "";
  let rest: Buffer = Buffer.alloc(0);
  const end = await runProcess({
    ...request,
    onOutput: (stream, chunk) => {
      if (stream === "stderr") {
        complaint = (complaint + chunk.toString("utf8")).slice(0, COMPLAINT_CHARACTERS);
        return true;
      }
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10, from)) {
        if (!request.onLine(rest.toString("utf8", from, at))) return false;
        from = at + 1;
      }
      rest = rest.subarray(from);
      if (rest.length <= MAXIMUM_LINE_BYTES) return true;
      const line = rest.toString("utf8");
      rest = Buffer.alloc(0);
      return request.onLine(line);
    },
  });
  if (rest.length > 0 && !end.wasCut) request.onLine(rest.toString("utf8"));
  return { ...end, complaint: complaint.trim() };
}
