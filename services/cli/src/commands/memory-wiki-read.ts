import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import {
  FoundWikiPageSchema,
  RevisionState,
  RevisionStateSchema,
  WikiFindingSchema,
  WikiPageSchema,
  WikiRevisionSchema,
  WikiScopeSchema,
  WikiService,
  type WikiPage,
  type WikiRevision,
} from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { printable, printableLine } from "../terminal/printable.ts";
import { scopeNamed, type WikiScopeFlag } from "../wiki/scope-named.ts";

interface JsonFlag {
  readonly json?: boolean;
}

export async function memoryWikiList(flags: JsonFlag, context: CommandContext): Promise<number> {
  const { pages } = await withMesh(context, (transport) =>
    createClient(WikiService, transport).listWikiPages({ project: readWorkspace(".") }),
  );
  if (flags.json === true) for (const page of pages) process.stdout.write(jsonLine(messageJson(WikiPageSchema, page)));
  else if (pages.length === 0) context.screen.note("There are no pages yet. Begin with: hlvm memory wiki write NAME --file FILE");
  else process.stdout.write(table(["PAGE", "SCOPE", "REVISION", "CHANGED", "WAITING", "TITLE"], pages.map(rowOf)));
  return EXIT_OK;
}

function rowOf({ name, scope, number, publishedAt, waiting, title }: WikiPage): string[] {
  return [name, enumWord(WikiScopeSchema, scope), String(number), localTime(publishedAt), String(waiting), title];
}

/** The page as it was written; on a terminal made printable. */
export async function memoryWikiRead(name: string, flags: JsonFlag & WikiScopeFlag, context: CommandContext): Promise<number> {
  const asked = { project: readWorkspace("."), name, scope: scopeNamed(flags) };
  const { page } = await withMesh(context, (transport) => createClient(WikiService, transport).getWikiPage(asked));
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(WikiPageSchema, page!)));
  else process.stdout.write(`${process.stdout.isTTY ? printable(page!.content) : page!.content}\n`);
  return EXIT_OK;
}

export async function memoryWikiSearch(
  query: string,
  flags: JsonFlag & { readonly limit: number },
  context: CommandContext,
): Promise<number> {
  const asked = { project: readWorkspace("."), query, limit: flags.limit };
  const { found } = await withMesh(context, (transport) => createClient(WikiService, transport).searchWiki(asked));
  if (flags.json === true) for (const one of found) process.stdout.write(jsonLine(messageJson(FoundWikiPageSchema, one)));
  else if (found.length === 0) context.screen.note("No page holds these words.");
  for (const { page } of flags.json === true ? [] : found) {
    const { name, scope, title, content } = page!;
    process.stdout.write(`${name} (${enumWord(WikiScopeSchema, scope)}): ${printableLine(title)}\n  ${printableLine(content, 300)}\n`);
  }
  return EXIT_OK;
}

/** @param name empty: of all pages */
export async function memoryWikiHistory(
  name: string,
  flags: JsonFlag & { readonly waiting?: boolean; readonly limit: number },
  context: CommandContext,
): Promise<number> {
  const state = flags.waiting === true ? RevisionState.WAITING : RevisionState.UNSPECIFIED;
  const asked = { project: readWorkspace("."), name, state, limit: flags.limit };
  const { revisions } = await withMesh(context, (transport) => createClient(WikiService, transport).listWikiRevisions(asked));
  if (flags.json === true) for (const one of revisions) process.stdout.write(jsonLine(messageJson(WikiRevisionSchema, one)));
  else if (revisions.length === 0) context.screen.note(flags.waiting === true ? "Nothing waits." : "Nothing was written yet.");
  else
    process.stdout.write(table(["REVISION", "PAGE", "NUMBER", "STATE", "WRITTEN", "BY", "DECIDED BY", "WHY"], revisions.map(revisionRow)));
  return EXIT_OK;
}

function revisionRow({
  revisionId,
  name,
  number,
  state,
  removes,
  writtenAt,
  writtenBy,
  sessionId,
  decidedBy,
  reason,
}: WikiRevision): string[] {
  const what = `${enumWord(RevisionStateSchema, state)}${removes ? ", removes" : ""}`;
  const by = sessionId === "" ? writtenBy : `${writtenBy}, a run in ${sessionId.slice(0, 8)}`;
  return [revisionId, name, number === 0 ? "" : String(number), what, localTime(writtenAt), by, decidedBy, reason];
}

/** @returns 1 where something is wrong */
export async function memoryWikiLint(flags: JsonFlag, context: CommandContext): Promise<number> {
  const { findings } = await withMesh(context, (transport) =>
    createClient(WikiService, transport).lintWiki({ project: readWorkspace(".") }),
  );
  for (const finding of findings) {
    const { name, line, rule, message } = finding;
    if (flags.json === true) process.stdout.write(jsonLine(messageJson(WikiFindingSchema, finding)));
    else process.stdout.write(`${name}${line === 0 ? "" : `:${line}`} ${rule}: ${printableLine(message, 300)}\n`);
  }
  if (findings.length === 0 && flags.json !== true) context.screen.note("Nothing is wrong that a program sees.");
  return findings.length === 0 ? EXIT_OK : EXIT_FAILED;
}
