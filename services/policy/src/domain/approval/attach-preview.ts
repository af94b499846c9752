import type { Delegation } from "@hlvm/identity/delegation";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { demandDelegation } from "../demand-delegation.ts";
import type { Approval, FilePreview } from "./approval.ts";
import { approvalNotFound } from "./approval-errors.ts";
import type { ApprovalStore } from "./approval-store.ts";

/**
 * Keeps what a call would change with the approval that its run asked for. The first one counts, which a person may have seen already.
 * @throws HlvmError `approval_not_found`, `delegation_differs`
 */
export async function attachPreview(
  store: ApprovalStore,
  delegation: Delegation,
  approvalId: string,
  preview: FilePreview,
): Promise<Approval> {
  const { principal } = delegation;
  const asked = await store.find(principal.organization, approvalId);
  if (asked === undefined || asked.requestedBy !== principal.id) throw approvalNotFound(approvalId);
  demandDelegation(delegation, asked);
  return (await store.attachPreview(principal.organization, approvalId, preview)) ?? asked;
}

/** By which an answer names what was shown: of the file and of the call. */
export function previewHash({ argumentsHash, preview }: Pick<Approval, "argumentsHash" | "preview">): string {
  return preview === undefined ? "" : sha256Hex(`${argumentsHash} ${preview.presentSha256}`);
}
