import { homedir } from "node:os";
import { findTranscripts } from "@hlvm/transcripts/find-transcripts";
import { TRANSCRIPT_TOOLS } from "@hlvm/transcripts/transcript-tools";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";
import { OWN_TOOL } from "../sources/own-sessions.ts";
import { openSourceBook } from "../sources/open-source-book.ts";
import type { FailedFile, Source, SourceBook } from "../sources/source-book.ts";
import { nextScanAt } from "../sources/source-watch.ts";
import { toolOf } from "../sources/tool-of.ts";

/** More than that are counted as so many. */
const MAXIMUM_COUNTED = 100_000;

interface SourceView {
  readonly tool: string;
  /** on, off, found (nothing is read before it is added), absent. */
  readonly state: string;
  readonly folders: readonly string[];
  readonly files: number;
  readonly megabytes: number;
  readonly newest: string | undefined;
  readonly scannedAt: string | undefined;
  /** Where it is scanned by itself: how often, how that went, and when next. */
  readonly watch: WatchView | undefined;
  /** Files that could not be read, and the first of them. */
  readonly failedFiles: number;
  readonly failed: readonly FailedFile[];
}

interface WatchView {
  readonly minutes: number;
  readonly failures: number;
  readonly reason: string;
  readonly nextAt: string | undefined;
}

/** What is imported, and what could be. Of a tool that is not added only the names, sizes and ages of its files are looked at. */
export async function memorySourceList(flags: { readonly json?: boolean }, context: CommandContext): Promise<number> {
  using book = openSourceBook(context.config);
  const added = new Map(book.list().map((source) => [source.tool, source]));
  const { config } = context;
  const home = { home: homedir(), platform: process.platform, variable: (name: string) => config.transcriptFolders[name] ?? "" };
  const views: SourceView[] = [];
  for (const tool of TRANSCRIPT_TOOLS)
    views.push(await viewOf(book, added.get(tool.name) ?? { tool: tool.name, folders: tool.folders(home) }, tool));
  views.push(ownView(added.get(OWN_TOOL), book));
  for (const source of added.values())
    if (source.tool !== OWN_TOOL && !TRANSCRIPT_TOOLS.some(({ name }) => name === source.tool))
      views.push(await viewOf(book, source, toolOf(source)));
  if (flags.json === true) for (const view of views) process.stdout.write(jsonLine(view));
  else {
    process.stdout.write(table(["TOOL", "STATE", "WATCHED", "FILES", "MB", "NEWEST", "FAILED", "FOLDER"], views.map(rowOf)));
    for (const { tool, failed, failedFiles, watch } of views) {
      if (watch !== undefined && watch.failures > 0)
        context.screen.note(`${tool}: ${watch.failures} scans failed, the last one with: ${watch.reason}`, "warning");
      for (const { path, failures, reason } of failed)
        context.screen.note(`${tool}: ${path} failed ${failures} times: ${reason}`, "warning");
      if (failedFiles > failed.length) context.screen.note(`${tool}: so did ${failedFiles - failed.length} more.`, "warning");
    }
  }
  return EXIT_OK;
}

/** Its sessions are in the mesh, and are counted by a scan. */
function ownView(source: Source | undefined, book: SourceBook): SourceView {
  const state = source === undefined ? "found" : source.isEnabled ? "on" : "off";
  const scannedAt = isoOf(source?.scannedAt ?? 0);
  return {
    tool: OWN_TOOL,
    state,
    folders: ["this mesh"],
    files: 0,
    megabytes: 0,
    newest: undefined,
    scannedAt,
    watch: watchView(book, OWN_TOOL),
    failedFiles: book.countFailed(OWN_TOOL),
    failed: book.failed(OWN_TOOL),
  };
}

async function viewOf(
  book: SourceBook,
  source: Pick<Source, "tool" | "folders"> & Partial<Source>,
  { files }: { readonly files: RegExp },
): Promise<SourceView> {
  let count = 0;
  let bytes = 0;
  let newest = 0;
  for (const folder of source.folders)
    for await (const file of findTranscripts(folder, files)) {
      bytes += file.bytes;
      newest = Math.max(newest, file.changedAt);
      if (++count === MAXIMUM_COUNTED) break;
    }
  const found = count === 0 ? "absent" : "found";
  return {
    tool: source.tool,
    state: source.isEnabled === undefined ? found : source.isEnabled ? "on" : "off",
    folders: source.folders,
    files: count,
    megabytes: Math.round(bytes / 1e5) / 10,
    newest: isoOf(newest),
    scannedAt: isoOf(source.scannedAt ?? 0),
    watch: watchView(book, source.tool),
    failedFiles: book.countFailed(source.tool),
    failed: book.failed(source.tool),
  };
}

function watchView(book: SourceBook, tool: string): WatchView | undefined {
  const watch = book.watch(tool);
  return watch && { minutes: watch.minutes, failures: watch.failures, reason: watch.reason, nextAt: isoOf(nextScanAt(watch)) };
}

function isoOf(at: number): string | undefined {
  return at === 0 ? undefined : new Date(at).toISOString();
}

function rowOf({ tool, state, watch, files, megabytes, newest, failedFiles, folders }: SourceView): string[] {
  return [
    tool,
    state,
    watch === undefined ? "" : `every ${watch.minutes} min`,
    String(files),
    megabytes.toFixed(1),
    newest?.slice(0, 10) ?? "",
    failedFiles === 0 ? "" : String(failedFiles),
    folders.join(", "),
  ];
}
