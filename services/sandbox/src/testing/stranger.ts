import type { Principal } from "@hlvm/identity/principal";
import { testPrincipal } from "@hlvm/testing/test-identity";

/** Somebody of another organization. */
export const stranger: Principal = { ...testPrincipal, organization: "other" };
