import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Viewer } from "../viewer.ts";
import { parsePage } from "./page-head.ts";
import { mayPublish } from "./write-page.ts";
import type { WikiRevision, WikiStore } from "./wiki-store.ts";

/**
 * Publishes what waits, exactly as it was read: a revision never changes.
 * @throws HlvmError `wiki_revision_not_found`, `wiki_revision_decided`, `wiki_page_changed`, `wiki_refused`
 */
export async function approveRevision(store: WikiStore, viewer: Viewer, id: string): Promise<WikiRevision> {
  const revision = await revisionToDecide(store, viewer, id);
  return store.publish(viewer, revision, parsePage(revision.name, revision.content));
}

/** @throws HlvmError `wiki_revision_not_found`, `wiki_revision_decided`, `wiki_refused` */
export async function rejectRevision(store: WikiStore, viewer: Viewer, id: string): Promise<WikiRevision> {
  return store.reject(viewer, await revisionToDecide(store, viewer, id));
}

/** @throws HlvmError `wiki_revision_not_found` */
export async function readRevision(store: WikiStore, viewer: Viewer, id: string): Promise<WikiRevision> {
  const revision = await store.findRevision(viewer, id);
  if (revision !== undefined) return revision;
  throw new HlvmError({
    code: "not_found",
    reason: "wiki_revision_not_found",
    message: `There is no revision ${id} that you can read here.`,
    advice: "`hlvm memory wiki proposals` shows those that wait.",
  });
}

async function revisionToDecide(store: WikiStore, viewer: Viewer, id: string): Promise<WikiRevision> {
  const revision = await readRevision(store, viewer, id);
  if (mayPublish(viewer, revision)) return revision;
  throw new HlvmError({
    code: "permission_denied",
    reason: "wiki_refused",
    message: "Pages of the whole organization are decided by an approver or an administrator.",
    advice: "Ask one of them, or write the page for the project.",
  });
}
