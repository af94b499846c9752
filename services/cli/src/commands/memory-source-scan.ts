import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { messageOf } from "@hlvm/errors/message-of";
import { Speaker, TranscriptService } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { MemoryWorkService } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { findTranscripts } from "@hlvm/transcripts/find-transcripts";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { OWN_TOOL, ownSessions } from "../sources/own-sessions.ts";
import { openSourceBook } from "../sources/open-source-book.ts";
import { scanSource, type ScanPorts, type ScanResult, type Transcripts } from "../sources/scan-source.ts";
import type { SessionBatch } from "../sources/send-file.ts";
import type { Source } from "../sources/source-book.ts";
import { toolOf } from "../sources/tool-of.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

/** A tool changed what it writes where more of its lines are not understood. */
const NOT_UNDERSTOOD_SHARE = 0.02;
const SPEAKERS = { person: Speaker.PERSON, assistant: Speaker.ASSISTANT, tool: Speaker.TOOL, harness: Speaker.HARNESS };

export interface SourceScanFlags {
  /** Minutes. */
  readonly every?: number;
  /** Those alone that are watched and whose time has come. */
  readonly due?: boolean;
  readonly json?: boolean;
}

/** Imports what is new. @param tool undefined: of all that were added */
export async function memorySourceScan(tool: string | undefined, flags: SourceScanFlags, context: CommandContext): Promise<number> {
  let failed = false;
  if (flags.due === true) return scanDue(tool, flags, context);
  const exitCode = await untilInterrupted(async (signal) => {
    for (;;) {
      for (const result of await scanAll(tool, context, signal)) {
        failed ||= result.failed > 0;
        tell(result, flags.json === true, context);
      }
      if (flags.every === undefined || signal.aborted) return;
      await sleep(flags.every * 60_000, undefined, { signal });
    }
  });
  return exitCode === EXIT_OK && failed ? EXIT_FAILED : exitCode;
}

/** One that fails keeps none of the others, and waits longer and longer. */
async function scanDue(tool: string | undefined, flags: SourceScanFlags, context: CommandContext): Promise<number> {
  using book = openSourceBook(context.config);
  let exitCode = EXIT_OK;
  for (const source of book.due(Date.now()).filter((one) => tool === undefined || one.tool === tool)) {
    const code = await untilInterrupted(async (signal) => {
      let reason = "";
      try {
        for (const result of await scanAll(source.tool, context, signal)) tell(result, flags.json === true, context);
      } catch (thrown) {
        if (signal.aborted) throw thrown;
        reason = messageOf(thrown) || "unknown";
        context.screen.note(`${source.tool}: ${reason}`, "warning");
      }
      // What was cut off is due at once.
      if (!signal.aborted) book.setTried(source.tool, Date.now(), reason.slice(0, 300));
    });
    if (code !== EXIT_OK) return code;
    if (book.watch(source.tool)?.failures !== 0) exitCode = EXIT_FAILED;
  }
  return exitCode;
}

async function scanAll(tool: string | undefined, context: CommandContext, signal: AbortSignal): Promise<ScanResult[]> {
  using book = openSourceBook(context.config);
  const sources = book.list().filter((source) => source.isEnabled && (tool === undefined || source.tool === tool));
  if (sources.length === 0)
    throw wrongUsage(
      tool === undefined ? "Nothing is imported yet." : `${tool} is not imported.`,
      "`hlvm memory source list` shows what could be; then: hlvm memory source add TOOL",
    );
  return await withMesh(
    context,
    async (transport) => {
      const results: ScanResult[] = [];
      for (const source of sources)
        results.push(
          await scanSource(source, transcriptsOf(source, transport), {
            book,
            signal,
            now: Date.now,
            ...portsTo(transport, source, context),
          }),
        );
      // Who lets a model label what is imported lets it go on with that.
      await createClient(MemoryWorkService, transport)
        .allowMemoryWork({ onlyRenew: true })
        .catch((cause: unknown) => context.screen.note(`Labels were not renewed: ${(cause as Error).message}`, "warning"));
      context.screen.status("");
      return results;
    },
    signal,
  );
}

function transcriptsOf(source: Source, transport: Transport): Transcripts {
  if (source.tool === OWN_TOOL) return ownSessions(transport);
  const { files, read } = toolOf(source);
  return { find: (folder) => findTranscripts(folder, files), read };
}

function portsTo(transport: Transport, { tool }: Source, { screen }: CommandContext): Pick<ScanPorts, "store" | "onFile"> {
  const client = createClient(TranscriptService, transport);
  return {
    store: (batch: SessionBatch) =>
      client.importTurns({
        ...batch,
        tool,
        machine: hostname(),
        turns: batch.turns.map((turn) => ({
          ...turn,
          speaker: SPEAKERS[turn.speaker],
          saidAt: turn.saidAt && timestampFromDate(turn.saidAt),
        })),
      }),
    onFile: ({ files, added }) => screen.status(`${tool}: ${files} files, ${added} new turns`),
  };
}

function tell(result: ScanResult, isJson: boolean, { screen }: CommandContext): void {
  if (isJson) return void process.stdout.write(jsonLine(result));
  const { tool, files, unchangedFiles, sessions, added, changed, unchanged, failed, setAside, forgotten, read, notUnderstood, dropped } =
    result;
  const parts = [`${files} files`, `${unchangedFiles} as before`, `${sessions} sessions read`, `${added} turns added`];
  const seldom = {
    [`${changed} changed`]: changed,
    [`${unchanged} known`]: unchanged,
    [`${forgotten} batches of forgotten sessions left out`]: forgotten,
  };
  parts.push(...Object.keys(seldom).filter((words) => seldom[words]! > 0));
  screen.note(`${tool}: ${parts.join(", ")}.`);
  if (failed + setAside > 0)
    screen.note(
      `${tool}: ${failed} files could not be read, ${setAside} are not tried for now; hlvm memory source list says why.`,
      "warning",
    );
  if (dropped > 0) screen.note(`${tool}: ${dropped} lines were longer than 16 MiB and left out.`, "warning");
  if (notUnderstood > read * NOT_UNDERSTOOD_SHARE)
    screen.note(`${tool}: ${notUnderstood} of ${read} lines were not understood. It may be newer than HLVM knows.`, "warning");
}
