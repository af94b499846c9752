import type { Principal } from "@hlvm/identity/principal";

/** Whose budgets a run's calls count against, besides its person's own. */
export interface Payer {
  readonly organization: string;
  readonly teams: readonly string[];
}

/** Principals name no teams yet: once they do, what is set for those teams counts. */
export function payerOf(principal: Principal & { readonly teams?: readonly string[] }): Payer {
  return { organization: principal.organization, teams: principal.teams ?? [] };
}
