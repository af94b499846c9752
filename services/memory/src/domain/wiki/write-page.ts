import { HlvmError } from "@hlvm/errors/hlvm-error";
import { storableText } from "../storable-text.ts";
import type { Viewer } from "../viewer.ts";
import { parsePage } from "./page-head.ts";
import type { PageName, RevisionDraft, WikiPage, WikiRevision, WikiScope, WikiStore } from "./wiki-store.ts";

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\/[a-z0-9]+(?:-[a-z0-9]+)*){0,4}$/;
const MAXIMUM_NAME = 128;
/** Of one person's runs; who has more has them decided first. */
const MAXIMUM_WAITING = 50;

/** What stands where a secret or something hidden was. */
const STAND_IN = /\[secret: [\w /-]+\]|⟦U\+[0-9A-F]+⟧/g;

export type PageToWrite = Omit<RevisionDraft, "scope"> & { readonly scope: WikiScope | undefined };

/**
 * Writes a page. What a person writes is published where they may; what a run writes, and what a member writes for the whole
 * organization, waits until somebody decides it.
 * @throws HlvmError `wiki_name_malformed`, `wiki_front_matter_malformed`, `wiki_page_empty`, `wiki_page_not_found` (to remove),
 * `wiki_page_changed`, `wiki_no_project`, `wiki_too_many_waiting`
 */
export async function writePage(store: WikiStore, viewer: Viewer, page: PageToWrite): Promise<WikiRevision> {
  const scope = page.scope ?? (viewer.project === "" ? "team" : "project");
  if (scope === "project" && viewer.project === "") throw noProject();
  const content = page.removes ? "" : storableText(page.content);
  const draft = { ...page, scope, name: nameOf(page.name), content, reason: storableText(page.reason) };
  const head = parsePage(draft.name, content);
  if (page.removes) await readPage(store, viewer, draft.name, scope);
  else if (!/[\p{L}\p{N}]/u.test(head.body.replace(STAND_IN, ""))) throw empty(draft.name);
  const state = viewer.call === undefined && mayPublish(viewer, draft) ? "published" : "waiting";
  if (state === "waiting" && (await store.countWaiting(viewer)) >= MAXIMUM_WAITING) throw tooMany();
  return store.add(viewer, draft, head, state);
}

/** Of a project its members may; of the whole organization who may write its facts. */
export function mayPublish(viewer: Viewer, { scope }: Pick<PageName, "scope">): boolean {
  return scope === "project" || viewer.mayWriteTeamFacts;
}

/**
 * What is published under a name.
 * @param scope undefined: the project's, and where it has none, the organization's
 * @throws HlvmError `wiki_page_not_found`
 */
export async function readPage(store: WikiStore, viewer: Viewer, name: string, scope: WikiScope | undefined): Promise<WikiPage> {
  for (const one of scope === undefined ? (["project", "team"] as const) : [scope]) {
    const page = await store.find(viewer, { scope: one, name });
    if (page !== undefined) return page;
  }
  throw new HlvmError({
    code: "not_found",
    reason: "wiki_page_not_found",
    message: `There is no page "${name}" that you can read here.`,
    advice: "`hlvm memory wiki list` shows those that there are.",
  });
}

function nameOf(name: string): string {
  if (NAME.test(name) && name.length <= MAXIMUM_NAME) return name;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "wiki_name_malformed",
    message: `"${name}" cannot be a page's name.`,
    advice: `Take words in lower case with hyphens, and slashes between them, such as deploy/roll-back; at most ${MAXIMUM_NAME} characters.`,
  });
}

function noProject(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "wiki_no_project",
    message: "A project's page needs a project, and none was given.",
    advice: "Write it from the project's folder, or for the whole organization (scope team).",
  });
}

function empty(name: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "wiki_page_empty",
    message: `The page ${name} says nothing.`,
    advice: "Write something below the front matter, or remove the page.",
  });
}

function tooMany(): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "wiki_too_many_waiting",
    message: `${MAXIMUM_WAITING} revisions wait already.`,
    advice: "Have them decided first: `hlvm memory wiki proposals`.",
  });
}
