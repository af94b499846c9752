import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  CacheBreakCauseSchema,
  SpendingService,
  type CacheBreak,
  type CacheBreakSum,
  type ListCacheBreaksResponse,
} from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { dollarsText } from "@hlvm/ndjson/dollars-text";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

const SHOWN = 20;

export interface CostBreaksFlags {
  readonly session?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly json?: boolean;
}

/** Where providers' caches broke, why, and what that cost: in one's own calls, or in everybody's for who may see that. */
export async function costBreaks({ session, since, until, json }: CostBreaksFlags, context: CommandContext): Promise<number> {
  const found = await withMesh(context, (transport) =>
    createClient(SpendingService, transport).listCacheBreaks({
      sessionId: session ?? "",
      since: since && timestampFromDate(since),
      until: until && timestampFromDate(until),
    }),
  );
  if (json === true) for (const one of found.breaks) process.stdout.write(jsonLine(breakJson(one)));
  else if (found.breaks.length === 0) context.screen.note(`No cache broke in ${found.calls} model calls.`);
  else process.stdout.write(text(found));
  if (json !== true && found.breaks.length > SHOWN)
    context.screen.note(`The latest ${SHOWN} of ${found.brokenCalls}; --json has up to 1,000 of them.`, "dim");
  if (json !== true && !found.ofEverybody) context.screen.note("These are yours.", "dim");
  return EXIT_OK;
}

function text({ breaks, sums, calls, brokenCalls }: ListCacheBreaksResponse): string {
  const each = breaks.slice(0, SHOWN).map((one) => {
    const at = one.at === undefined ? "" : timestampDate(one.at).toISOString().slice(0, 19).replace("T", " ");
    return [
      at,
      one.sessionId.slice(0, 8),
      one.model,
      wordOf(one.cause),
      String(one.reusableTokens),
      String(one.cachedTokens),
      priceOf(one),
    ];
  });
  return [
    `${brokenCalls} of ${calls} calls paid anew for what had been sent before.\n\n`,
    table(["CAUSE", "CALLS", "TOKENS", "COST"], sums.map(sumLine)),
    "\n",
    table(["TIME (UTC)", "SESSION", "MODEL", "CAUSE", "SENT BEFORE", "FROM CACHE", "COST"], each),
  ].join("");
}

function sumLine({ cause, breaks, lostTokens, nanoDollars }: CacheBreakSum): string[] {
  return [wordOf(cause), String(breaks), String(lostTokens), dollarsText(nanoDollars)];
}

function priceOf({ nanoDollars }: CacheBreak): string {
  return nanoDollars === undefined ? "unknown" : dollarsText(nanoDollars);
}

function wordOf(cause: CacheBreak["cause"]): string {
  return enumWord(CacheBreakCauseSchema, cause);
}

function breakJson({ sessionId, runId, turn, at, model, cause, reusableTokens, cachedTokens, nanoDollars }: CacheBreak): object {
  return {
    session_id: sessionId,
    run_id: runId,
    turn,
    at: at && timestampDate(at).toISOString(),
    model,
    cause: wordOf(cause),
    reusable_tokens: Number(reusableTokens),
    cached_tokens: Number(cachedTokens),
    ...(nanoDollars === undefined ? {} : { cost_nano_dollars: Number(nanoDollars) }),
  };
}
