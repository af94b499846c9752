import { once } from "node:events";
import type { Principal } from "@hlvm/identity/principal";
import { followRun, type Runs } from "../domain/chat.ts";
import { readChatRequest } from "../domain/chat-request.ts";
import { readBody, type Request } from "./read-body.ts";
import type { Response } from "./send-error.ts";

/**
 * `POST /api/chat`: starts a run and streams its lines as NDJSON, no faster than the client reads. A client that goes
 * away cancels its run. What is thrown before the first line is for the caller to send.
 */
export async function chat(
  request: Request,
  response: Response,
  runsOf: (principal: Principal) => Runs,
  principal: Principal,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const runs = runsOf(principal);
  const run = await runs.start(readChatRequest(await readBody(request)));
  const lines = followRun(runs, run, gone.signal);
  try {
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    for await (const line of lines) {
      if (!response.write(`${JSON.stringify(line)}\n`)) await once(response, "drain", { signal: gone.signal });
    }
    response.end();
  } catch (cause) {
    if (!gone.signal.aborted) throw cause;
  }
}
