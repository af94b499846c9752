import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { AuditEvent } from "../audit/audit-event.ts";
import { demandAuthority } from "../authority/authority.ts";
import type { TrustedFile, TrustedWorkspace, TrustStore } from "./trust-store.ts";

/**
 * From now on these texts of a workspace instruct the agent in this person's runs, and no others of it.
 * @throws HlvmError `role_missing`; `hash_differs` where a text is not the one that its hash names
 */
export async function addTrust(
  store: TrustStore,
  principal: Principal,
  traceId: string,
  { workspace, files }: Pick<TrustedWorkspace, "workspace" | "files">,
): Promise<TrustedWorkspace> {
  demandAuthority(principal, "run_tools");
  const paths = new Set<string>();
  for (const { path, sha256, text } of files) {
    if (sha256Hex(text) !== sha256) throw hashDiffers(path);
    if (paths.has(path) || text.includes("\0")) throw unfit(path);
    paths.add(path);
  }
  return store.put(principal, workspace, files, eventOf("trust_added", principal, traceId, workspace, files));
}

/** @returns false where it was not trusted @throws HlvmError `role_missing` */
export async function removeTrust(store: TrustStore, principal: Principal, traceId: string, workspace: string): Promise<boolean> {
  demandAuthority(principal, "run_tools");
  return store.remove(principal, workspace, eventOf("trust_removed", principal, traceId, workspace, []));
}

function eventOf(
  kind: "trust_added" | "trust_removed",
  principal: Principal,
  traceId: string,
  workspace: string,
  files: readonly TrustedFile[],
): AuditEvent {
  const hashes = files.map(({ path, sha256 }) => ({ path, sha256 }));
  return {
    kind,
    at: new Date().toISOString(),
    organization: principal.organization,
    principal: principal.id,
    arguments: canonicalJson({ workspace, files: hashes }),
    traceId,
  };
}

function hashDiffers(path: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "hash_differs",
    message: `The hash of ${path} is not that of its text.`,
    advice: "Read the instructions anew, and trust what was read.",
  });
}

function unfit(path: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "file_unfit",
    message: `${path} is named twice, or holds a character that no text has.`,
    advice: "Name each file once, with the text that was read.",
  });
}
