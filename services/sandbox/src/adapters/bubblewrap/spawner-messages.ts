import type { GroupEntry } from "../limits/group-entry.ts";
import type { SandboxExit, SandboxProcessOptions } from "./sandbox-process.ts";

/** To the process that starts processes. `id` is the sender's number for one of them. */
export type ToSpawner =
  | { readonly kind: "start"; readonly id: number; readonly options: SandboxProcessOptions; readonly entry: GroupEntry | undefined }
  | { readonly kind: "release"; readonly id: number }
  /** All that is written to its standard input. */
  | { readonly kind: "input"; readonly id: number; readonly text: string }
  /** So many bytes of output were taken. */
  | { readonly kind: "taken"; readonly id: number; readonly bytes: number }
  | { readonly kind: "kill"; readonly id: number };

export type FromSpawner =
  /** Comes with a runner's descriptor. */
  | { readonly kind: "channel"; readonly id: number }
  | { readonly kind: "made"; readonly id: number; readonly processId: number }
  | { readonly kind: "said"; readonly id: number; readonly text: string }
  | { readonly kind: "output"; readonly id: number; readonly stream: "stdout" | "stderr"; readonly chunk: Uint8Array }
  | { readonly kind: "exited"; readonly id: number; readonly exit: SandboxExit };
