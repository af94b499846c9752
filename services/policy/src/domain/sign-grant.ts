import type { Grant } from "@hlvm/grant/grant";

/** Signs what the executor demands, for one use within a minute. */
export type SignGrant = (grant: Omit<Grant, "id" | "expiresAt">) => string;
