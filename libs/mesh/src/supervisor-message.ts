import type { ErrorCode } from "@hlvm/errors/hlvm-error";
import type { MeshState } from "./mesh-state.ts";

/** What the supervisor tells whoever started it, over the IPC channel. The last message is `ready` or `failed`. */
export type SupervisorMessage =
  | { readonly kind: "progress"; readonly line: string }
  | { readonly kind: "ready"; readonly state: MeshState }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly reason: string; readonly message: string; readonly advice: string };
