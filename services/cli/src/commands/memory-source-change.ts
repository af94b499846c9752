import { homedir } from "node:os";
import { resolve } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { findTranscripts } from "@hlvm/transcripts/find-transcripts";
import { newTally, type ReadTurn } from "@hlvm/transcripts/read-turn";
import { TRANSCRIPT_TOOLS } from "@hlvm/transcripts/transcript-tools";
import { replaceSecrets } from "@hlvm/redaction/replace-secrets";
import { secretMark } from "@hlvm/redaction/secret-mark";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";
import { OWN_TOOL } from "../sources/own-sessions.ts";
import { openSourceBook } from "../sources/open-source-book.ts";
import { toolOf } from "../sources/tool-of.ts";

const TRIED_TURNS = 10;

export interface SourceAddFlags {
  readonly folder?: readonly string[];
  readonly leaveOut?: readonly string[];
  readonly textField?: string;
  readonly roleField: string;
  readonly timeField: string;
  readonly sessionField: string;
  readonly keyField: string;
  /** Minutes between scans by itself. */
  readonly watch?: number;
  /** Show the first turns as they are understood, and change nothing. */
  readonly try?: boolean;
  readonly json?: boolean;
}

/** From now on this tool's sessions are read by scans. */
export async function memorySourceAdd(tool: string, flags: SourceAddFlags, context: CommandContext): Promise<number> {
  const { textField: text, roleField: role, timeField: time, sessionField: session, keyField: key } = flags;
  const fields = text === undefined ? undefined : { text, role, time, session, key };
  if (tool === OWN_TOOL) return addOwn(flags, context);
  const { files, read } = toolOf({ tool, fields });
  const { config, screen } = context;
  const home = { home: homedir(), platform: process.platform, variable: (name: string) => config.transcriptFolders[name] ?? "" };
  const known = TRANSCRIPT_TOOLS.find(({ name }) => name === tool);
  const folders = (flags.folder ?? known?.folders(home) ?? []).map((folder) => resolve(folder));
  if (folders.length === 0)
    throw wrongUsage(`Where ${tool} keeps its sessions differs.`, "Say --folder FOLDER, which is searched with all below it.");
  const source = { tool, folders, fields, leftOut: (flags.leaveOut ?? []).map((folder) => resolve(folder)) };
  if (flags.try !== true) {
    using book = openSourceBook(config);
    book.put(source);
    book.setWatch(tool, flags.watch ?? 0);
    screen.note(`Sessions of ${tool} in ${folders.join(", ")} are imported from now on. ${howScanned(flags)}`);
    if (known?.needs !== undefined) screen.note(known.needs);
    return EXIT_OK;
  }
  const turns = await firstTurns(folders, files, read);
  if (flags.json === true) for (const turn of turns) process.stdout.write(jsonLine({ ...turn, saidAt: turn.saidAt?.toISOString() }));
  else if (turns.length === 0) screen.note(`Nothing in ${folders.join(", ")} was understood.`, "warning");
  else process.stdout.write(table(["SESSION", "TURN", "WHO", "WHEN", "TEXT"], turns.map(rowOf)));
  return turns.length === 0 ? EXIT_FAILED : EXIT_OK;
}

function addOwn(flags: SourceAddFlags, { config, screen }: CommandContext): number {
  using book = openSourceBook(config);
  book.put({ tool: OWN_TOOL, folders: ["this mesh"], fields: undefined, leftOut: [] });
  book.setWatch(OWN_TOOL, flags.watch ?? 0);
  screen.note(`Your own sessions in this mesh can be recalled from now on. ${howScanned(flags)}`);
  return EXIT_OK;
}

function howScanned({ watch }: SourceAddFlags): string {
  return watch === undefined
    ? "Begin with: hlvm memory source scan"
    : `While \`hlvm up\` runs, what is new comes every ${watch} minutes; at once: hlvm memory source scan`;
}

async function firstTurns(folders: readonly string[], files: RegExp, read: ReturnType<typeof toolOf>["read"]): Promise<ReadTurn[]> {
  const turns: ReadTurn[] = [];
  for (const folder of folders)
    for await (const { path } of findTranscripts(folder, files))
      for await (const turn of read(path, newTally())) {
        turns.push({ ...turn, text: replaceSecrets(turn.text, (kind) => secretMark(kind)) });
        if (turns.length === TRIED_TURNS) return turns;
      }
  return turns;
}

function rowOf({ session, key, speaker, saidAt, text }: ReadTurn): string[] {
  return [session, key, speaker, saidAt?.toISOString() ?? "", text];
}

/** Scans leave the tool alone; what was imported stays. */
export function memorySourceDisable(tool: string, context: CommandContext): number {
  using book = openSourceBook(context.config);
  if (!book.disable(tool))
    throw new HlvmError({
      code: "not_found",
      reason: "source_not_found",
      message: `${tool} was never added.`,
      advice: "`hlvm memory source list` shows what was.",
    });
  context.screen.note(`Nothing more of ${tool} is imported. What was stays: hlvm memory sessions forget ${tool} takes it away.`);
  return EXIT_OK;
}
