import type { Principal, Role } from "@hlvm/identity/principal";
import type { MemberStore } from "./member-store.ts";

/** So long a role that was taken away goes on to count in runs that have begun. */
const REMEMBER_MILLISECONDS = 1_000;
const MOST_REMEMBERED = 1_000;

interface Remembered {
  readonly roles: Promise<readonly Role[] | undefined>;
  readonly until: number;
}

/**
 * What is left of the roles that somebody had when they began a run: a delegation is a day old at most, and who was suspended or
 * has lost a role meanwhile acts through no run any more. The one user of local mode is no member, and keeps theirs.
 */
export class CurrentRoles {
  readonly #members: MemberStore;
  /** In the order in which they were asked for. */
  readonly #remembered = new Map<string, Remembered>();

  constructor(members: MemberStore) {
    this.#members = members;
  }

  async within(principal: Principal): Promise<Principal> {
    const now = await this.#rolesOf(principal);
    return now === undefined ? principal : { ...principal, roles: principal.roles.filter((role) => now.includes(role)) };
  }

  #rolesOf({ organization, id }: Principal): Promise<readonly Role[] | undefined> {
    const name = JSON.stringify([organization, id]);
    const known = this.#remembered.get(name);
    if (known !== undefined && known.until > performance.now()) return known.roles;
    const roles = this.#members.rolesNow(organization, id);
    // What could not be told is asked again by the next.
    roles.catch(() => this.#remembered.delete(name));
    this.#remembered.delete(name);
    for (const [oldest, { until }] of this.#remembered) {
      if (until > performance.now() && this.#remembered.size < MOST_REMEMBERED) break;
      this.#remembered.delete(oldest);
    }
    this.#remembered.set(name, { roles, until: performance.now() + REMEMBER_MILLISECONDS });
    return roles;
  }
}
