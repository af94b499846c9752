import { createClient, type Transport } from "@connectrpc/connect";
import { messageJson } from "@hlvm/ndjson/message-json";
import { FactChangeSchema, MemoryService, type FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { MemoryRecallSchema, WatchService, type MemoryRecall } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { CommandContext } from "../command.ts";
import { factFilterOf, type FactFilterFlags } from "../memory/fact-filter.ts";
import { CHANGE_HEADINGS, changeRow } from "../memory/fact-view.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { writeOutput } from "../output/write-output.ts";
import { Reconnection } from "../run/reconnection.ts";
import { printableLine } from "../terminal/printable.ts";
import { counted } from "../terminal/sizes.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

const RECONNECT_MILLISECONDS = 60_000;
const TEXT_LENGTH = 160;

export interface MemoryChangesFlags extends FactFilterFlags {
  readonly limit: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** What was done to facts, the latest first; or as it is done, with what runs are reminded of, until somebody stops it. */
export function memoryChanges(flags: MemoryChangesFlags, context: CommandContext): Promise<number> {
  return untilInterrupted((signal) =>
    withMesh(
      context,
      (transport) => (flags.follow === true ? follow(transport, flags, context, signal) : list(transport, flags, context)),
      signal,
    ),
  );
}

async function list(transport: Transport, flags: MemoryChangesFlags, context: CommandContext): Promise<void> {
  const { changes, nextPageToken } = await createClient(MemoryService, transport).listFactChanges({
    filter: factFilterOf(flags),
    limit: flags.limit,
  });
  if (flags.json === true) for (const change of changes) process.stdout.write(changeJson(change));
  else if (changes.length === 0) context.screen.note("No change of a fact fits.");
  else process.stdout.write(table(CHANGE_HEADINGS, changes.map(changeRow)));
  if (nextPageToken !== "") context.screen.note("There are earlier ones; narrow the question, or raise --limit.", "dim");
}

async function follow(transport: Transport, flags: MemoryChangesFlags, context: CommandContext, signal: AbortSignal): Promise<void> {
  const onLost = (): void => context.screen.note("The connection was lost; it is being resumed.", "dim");
  using reconnection = new Reconnection({ signal, onLost, reconnectMilliseconds: RECONNECT_MILLISECONDS });
  const filter = factFilterOf(flags);
  let cursor = "";
  for (;;) {
    try {
      const topics = [{ name: "memory", topic: { case: "memory" as const, value: { filter, cursor } } }];
      for await (const { frame } of createClient(WatchService, transport).watch({ topics }, { signal, timeoutMs: 0 })) {
        reconnection.contact();
        if (frame.case === "ended")
          throw new HlvmError({ code: "failed_precondition", reason: frame.value.reason, message: frame.value.message });
        // It goes on behind the last one that came.
        if (frame.case === "lagging") break;
        if (frame.case !== "memory") continue;
        const { changes, recalls } = frame.value;
        for (const change of changes) await writeOutput(flags.json === true ? changeJson(change) : line(changeRow(change)), signal);
        for (const recall of recalls) await writeOutput(flags.json === true ? recallJson(recall) : line(recallRow(recall)), signal);
        cursor = frame.value.cursor || cursor;
      }
    } catch (thrown) {
      await reconnection.waitAfter(thrown);
    }
  }
}

function changeJson(change: FactChange): string {
  return jsonLine({ type: "fact_change", ...messageJson(FactChangeSchema, change) });
}

function recallJson(recall: MemoryRecall): string {
  return jsonLine({ type: "recall", ...messageJson(MemoryRecallSchema, recall) });
}

function recallRow({ at, principal, sessionId, recalled, withheld, notice }: MemoryRecall): string[] {
  const what = withheld > 0 ? `${counted(withheld, "fact")} of somebody else's` : recalled.join("; ");
  return [localTime(at), "recalled", principal, sessionId.slice(0, 8), what || notice];
}

function line(cells: readonly string[]): string {
  return `${cells
    .map((cell) => printableLine(cell, TEXT_LENGTH))
    .filter((cell) => cell !== "")
    .join("  ")}\n`;
}
