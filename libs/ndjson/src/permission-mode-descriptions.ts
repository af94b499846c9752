import type { PermissionModeName } from "./permission-mode-name.ts";

/** What each mode lets a run do, for people. L0 reads, L1 changes the workspace in a way that can be taken back, L2 is all else. */
export const PERMISSION_MODE_DESCRIPTIONS: Readonly<Record<PermissionModeName, string>> = {
  default: "reading (L0) is allowed; all else is asked",
  plan: "reading (L0) alone, until you accept the plan that the run ends in; it goes on in the mode that you choose",
  acceptEdits: "reading and changes of files (L0, L1) are allowed; all else is asked",
  bypassPermissions: "everything is allowed but what the organization denies",
  dontAsk: "reading is allowed; all else is denied, and nobody is asked",
};
