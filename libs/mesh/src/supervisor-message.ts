import type { ErrorCode } from "@hlvm/errors/hlvm-error";
import type { MeshState } from "./mesh-state.ts";

/** How long a mesh lives: until it is told to end, or as long as somebody holds it (see `holdMesh`). */
export const LIFETIMES = ["foreground", "while-held"] as const;
export type Lifetime = (typeof LIFETIMES)[number];

/** What the supervisor tells whoever started it, over the IPC channel. The last message is `ready` or `failed`. */
export type SupervisorMessage =
  | { readonly kind: "progress"; readonly line: string }
  | { readonly kind: "ready"; readonly state: MeshState }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly reason: string; readonly message: string; readonly advice: string };
