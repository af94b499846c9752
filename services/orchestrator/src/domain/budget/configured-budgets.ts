import type { BudgetStore } from "./budget-store.ts";

/**
 * For which organizations budgets are set, as of the last heartbeat: a run of any other one asks nobody before its model calls.
 * A budget that was set just now counts within a heartbeat; what calls use until then counts against it all the same.
 */
export class ConfiguredBudgets {
  readonly #store: Pick<BudgetStore, "organizationsWithBudgets">;
  #organizations: ReadonlySet<string> = new Set();

  constructor(store: Pick<BudgetStore, "organizationsWithBudgets">) {
    this.#store = store;
  }

  has(organization: string): boolean {
    return this.#organizations.has(organization);
  }

  /** @throws HlvmError where the database cannot be reached; what was known last stays */
  async refresh(): Promise<void> {
    this.#organizations = await this.#store.organizationsWithBudgets();
  }
}
