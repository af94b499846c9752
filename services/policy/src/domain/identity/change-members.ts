import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal, Role } from "@hlvm/identity/principal";
import type { AuditEvent, AuditKind } from "../audit/audit-event.ts";
import { demandAuthority, hasAuthority } from "../authority/authority.ts";
import type { GroupMapping, Member } from "./member.ts";
import type { MemberChange, MemberFilter, MemberStore } from "./member-store.ts";

/** Who changes something about members, and how that is found again. */
export interface MemberChanger {
  readonly principal: Principal;
  readonly traceId: string;
}

/** @throws HlvmError `role_missing` */
export async function listMembers(store: MemberStore, principal: Principal, filter: MemberFilter): Promise<Member[]> {
  demandSight(principal);
  return store.list(principal.organization, filter);
}

/** @throws HlvmError `role_missing` */
export async function listMappings(store: MemberStore, principal: Principal): Promise<GroupMapping[]> {
  demandSight(principal);
  return store.mappings(principal.organization);
}

/** @throws HlvmError `role_missing`, `member_not_found` */
export async function putRole(store: MemberStore, by: MemberChanger, member: string, role: Role): Promise<Member> {
  demandAuthority(by.principal, "manage_members");
  const event = eventOf("member_role_added", by, { member, role });
  return changed(store, by, member, await store.addRole(by.principal.organization, member, role, event));
}

/** @throws HlvmError `role_missing`, `member_not_found`, `last_administrator`, `role_from_group` */
export async function removeRole(store: MemberStore, by: MemberChanger, principal: string, role: Role): Promise<Member> {
  demandAuthority(by.principal, "manage_members");
  const event = eventOf("member_role_removed", by, { member: principal, role });
  const change = await store.removeRole(by.principal.organization, principal, role, event);
  const member = await changed(store, by, principal, change);
  const group = member.roles.find((held) => held.role === role)?.group;
  if (change === "done" || group === undefined) return member;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "role_from_group",
    message: `${principal} has the role ${role} from the group ${group} of the identity provider.`,
    advice: "Take them out of the group there, or end what the group gives: `hlvm group unmap`.",
  });
}

/** @throws HlvmError `role_missing`, `member_not_found`, `last_administrator` */
export async function suspendMember(store: MemberStore, by: MemberChanger, member: string): Promise<Member> {
  demandAuthority(by.principal, "manage_members");
  return changed(store, by, member, await store.suspend(by.principal.organization, member, eventOf("member_suspended", by, { member })));
}

/** @throws HlvmError `role_missing`, `member_not_found` */
export async function resumeMember(store: MemberStore, by: MemberChanger, member: string): Promise<Member> {
  demandAuthority(by.principal, "manage_members");
  return changed(store, by, member, await store.resume(by.principal.organization, member, eventOf("member_resumed", by, { member })));
}

/** @throws HlvmError `role_missing`, `team_not_found` */
export async function putMapping(store: MemberStore, by: MemberChanger, mapping: GroupMapping): Promise<void> {
  demandAuthority(by.principal, "manage_members");
  const change = await store.map(by.principal.organization, mapping, eventOf("group_mapped", by, { ...mapping }));
  if (change !== "no_team") return;
  throw new HlvmError({
    code: "not_found",
    reason: "team_not_found",
    message: `There is no team ${mapping.gives}.`,
    advice: "`hlvm team create NAME` makes one.",
  });
}

/** @throws HlvmError `role_missing`, `last_administrator` */
export async function removeMapping(store: MemberStore, by: MemberChanger, mapping: GroupMapping): Promise<void> {
  demandAuthority(by.principal, "manage_members");
  const change = await store.unmap(by.principal.organization, mapping, eventOf("group_unmapped", by, { ...mapping }));
  if (change === "last_administrator") throw lastAdministrator();
}

function demandSight(principal: Principal): void {
  if (!hasAuthority(principal, "read_audit")) demandAuthority(principal, "manage_members");
}

async function changed(store: MemberStore, by: MemberChanger, principal: string, change: MemberChange): Promise<Member> {
  if (change === "last_administrator") throw lastAdministrator();
  const member = change === "no_member" ? undefined : await store.find(by.principal.organization, principal);
  if (member !== undefined) return member;
  throw new HlvmError({
    code: "not_found",
    reason: "member_not_found",
    message: `Nobody is called ${principal} here.`,
    advice: "`hlvm member list` shows who has logged in.",
  });
}

function eventOf(kind: AuditKind, { principal, traceId }: MemberChanger, about: Parameters<typeof canonicalJson>[0]): AuditEvent {
  const { organization, id } = principal;
  return { kind, at: new Date().toISOString(), organization, principal: id, arguments: canonicalJson(about), traceId };
}

function lastAdministrator(): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "last_administrator",
    message: "After this nobody would be an administrator any more.",
    advice: "Make somebody else one first: `hlvm member role add PRINCIPAL admin`.",
  });
}
