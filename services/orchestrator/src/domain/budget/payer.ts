import type { Principal } from "@hlvm/identity/principal";

/** Whose budgets a run's calls count against, besides its person's own. */
export interface Payer {
  readonly organization: string;
  readonly teams: readonly string[];
}

export function payerOf(principal: Principal): Payer {
  return { organization: principal.organization, teams: principal.teams ?? [] };
}
