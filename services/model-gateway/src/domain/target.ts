import type { KeyRing } from "./key-ring.ts";
import type { Model } from "./model.ts";
import type { ModelError } from "./model-error.ts";

/** A model that may answer a call. */
export interface Target {
  readonly providerName: string;
  /** Within the provider. */
  readonly name: string;
  readonly keys: KeyRing;
  /** Where it is not the model that was asked for: what is said of it before its answer. */
  readonly servedBy?: { readonly model: Model; readonly why: string };
}

/** The next that may answer in place of those that failed, and said why; undefined where there is none. */
export type NextTarget = (failed: ModelError) => Promise<Target | undefined>;
