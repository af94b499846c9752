import type { Principal } from "@hlvm/identity/principal";
import type { Teams } from "../domain/teams.ts";

/** As long as a token is remembered. */
const REMEMBER_MILLISECONDS = 1_000;
const MOST_REMEMBERED = 1_000;

/** Asks for somebody's teams once a second, for programs that call many times in one. */
export class RememberedTeams implements Teams {
  readonly #teams: Teams;
  /** In the order in which they were asked for. */
  readonly #known = new Map<string, { readonly teams: Promise<readonly string[]>; readonly until: number }>();

  constructor(teams: Teams) {
    this.#teams = teams;
  }

  of(principal: Principal): Promise<readonly string[]> {
    const now = performance.now();
    const name = JSON.stringify([principal.organization, principal.id]);
    const known = this.#known.get(name);
    if (known !== undefined && known.until > now) return known.teams;
    const teams = this.#teams.of(principal);
    teams.catch(() => this.#known.delete(name));
    this.#known.delete(name);
    for (const [oldest, { until }] of this.#known) {
      if (until > now && this.#known.size < MOST_REMEMBERED) break;
      this.#known.delete(oldest);
    }
    this.#known.set(name, { teams, until: now + REMEMBER_MILLISECONDS });
    return teams;
  }
}
