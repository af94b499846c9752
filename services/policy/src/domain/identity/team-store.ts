import type { AuditEvent } from "../audit/audit-event.ts";

export interface Team {
  readonly name: string;
  /** `user:NAME`, in order. */
  readonly members: readonly string[];
  readonly createdAt: Date;
}

/** How a change came out: done, or as it was already, without another event. */
export type TeamChange = "done" | "unchanged" | "no_team" | "too_many";

/** Teams of organizations. The event that belongs to a change is committed with it. */
export interface TeamStore {
  /** @param member where it is given, those that this person is in */
  list(organization: string, member?: string): Promise<Team[]>;
  /** Names of the teams that a person is in, in order. */
  of(organization: string, principal: string): Promise<string[]>;
  /** @param most teams that an organization may have */
  create(organization: string, name: string, most: number, event: AuditEvent): Promise<TeamChange>;
  delete(organization: string, name: string, event: AuditEvent): Promise<TeamChange>;
  /** @param most teams that a person may be in */
  add(organization: string, team: string, principal: string, most: number, event: AuditEvent): Promise<TeamChange>;
  remove(organization: string, team: string, principal: string, event: AuditEvent): Promise<TeamChange>;
}
