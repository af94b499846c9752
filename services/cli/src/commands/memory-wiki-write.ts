import { readFileSync } from "node:fs";
import { createClient, type Client } from "@connectrpc/connect";
import { formatPatch, OMIT_HEADERS, structuredPatch } from "diff";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { messageJson } from "@hlvm/ndjson/message-json";
import { RevisionState, WikiRevisionSchema, WikiService, type WikiRevision } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { confirm } from "../terminal/confirm.ts";
import { printable, printableLine } from "../terminal/printable.ts";
import { scopeNamed, type WikiScopeFlag } from "../wiki/scope-named.ts";

const MAXIMUM_BYTES = 65_536;
/** Texts that differ by more are shown as replaced. */
const COMPARISON = { context: 3, maxEditLength: 2_000, timeout: 500 };

export interface WikiWriteFlags extends WikiScopeFlag {
  readonly file: string;
  /** Left out: the present revision. */
  readonly base?: number;
  readonly reason?: string;
  readonly json?: boolean;
}

/** Writes a page from a file, or from standard input (-). */
export async function memoryWikiWrite(name: string, flags: WikiWriteFlags, context: CommandContext): Promise<number> {
  const content = contentOf(flags.file);
  const { reason = "", base } = flags;
  const page = { project: readWorkspace("."), name, scope: scopeNamed(flags) };
  const revision = await withMesh(context, async (transport) => {
    const wiki = createClient(WikiService, transport);
    return (await wiki.writeWikiPage({ ...page, content, reason, base: base ?? (await presentNumber(wiki, page)) })).revision!;
  });
  tell(revision, flags, context);
  return EXIT_OK;
}

export async function memoryWikiRemove(
  name: string,
  flags: WikiScopeFlag & { readonly yes?: boolean; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  if (flags.yes !== true && !(await confirm([`The page ${name} goes; its revisions stay in its history.`], "Remove it?", context)))
    return EXIT_FAILED;
  const page = { project: readWorkspace("."), name, scope: scopeNamed(flags) };
  const revision = await withMesh(context, async (transport) => {
    const wiki = createClient(WikiService, transport);
    return (await wiki.writeWikiPage({ ...page, removes: true, base: await presentNumber(wiki, page) })).revision!;
  });
  tell(revision, flags, context);
  return EXIT_OK;
}

/** Shows what a revision changes, asks, and publishes it or has it never be published. */
export async function memoryWikiDecide(
  decision: "approve" | "reject",
  revisionId: string,
  flags: { readonly yes?: boolean; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const named = { project: readWorkspace("."), revisionId };
  return withMesh(context, async (transport) => {
    const wiki = createClient(WikiService, transport);
    if (decision === "approve" && flags.yes !== true) {
      const { revision, baseContent } = await wiki.getWikiRevision(named);
      if (!(await confirm(changeLines(revision!, baseContent), "Publish it?", context))) return EXIT_FAILED;
    }
    const decided = await (decision === "approve" ? wiki.approveWikiRevision(named) : wiki.rejectWikiRevision(named));
    tell(decided.revision!, flags, context);
    return EXIT_OK;
  });
}

function changeLines({ name, removes, reason, content }: WikiRevision, before: string): string[] {
  const head = `${name}${removes ? ", to be removed" : ""}${reason === "" ? "" : `: ${printableLine(reason)}`}`;
  const patch = structuredPatch(name, name, `${before}\n`, `${content}\n`, "", "", COMPARISON);
  const text = patch === undefined ? content : formatPatch(patch, OMIT_HEADERS);
  return [head, ...printable(text).split("\n")];
}

function tell(revision: WikiRevision, flags: { readonly json?: boolean }, context: CommandContext): void {
  if (flags.json === true) return void process.stdout.write(jsonLine(messageJson(WikiRevisionSchema, revision)));
  const { revisionId, name, number, state, removes } = revision;
  if (state === RevisionState.WAITING)
    context.screen.note(`Revision ${revisionId} of ${name} waits until an approver publishes it (\`hlvm memory wiki approve\`).`);
  else if (state === RevisionState.REJECTED) context.screen.note(`Revision ${revisionId} of ${name} is rejected.`);
  else context.screen.note(removes ? `The page ${name} is gone.` : `${name} is at revision ${number}.`);
}

function contentOf(file: string): string {
  const bytes = readFileSync(file === "-" ? 0 : file);
  if (bytes.length > MAXIMUM_BYTES)
    throw wrongUsage(`The page has ${bytes.length} bytes; at most ${MAXIMUM_BYTES} fit.`, "Split it into pages that link each other.");
  return bytes.toString("utf8");
}

type Named = Parameters<Client<typeof WikiService>["getWikiPage"]>[0];

/** 0: there is no such page. */
async function presentNumber(wiki: Client<typeof WikiService>, page: Named): Promise<number> {
  try {
    return (await wiki.getWikiPage(page)).page!.number;
  } catch (thrown) {
    if (fromConnectError(thrown).reason === "wiki_page_not_found") return 0;
    throw thrown;
  }
}
