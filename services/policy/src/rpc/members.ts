import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type {
  GroupMapping as GroupMappingMessage,
  GroupMappingSchema,
  MemberSchema,
  MemberService,
} from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { demandPerson } from "../domain/demand-person.ts";
import {
  listMappings,
  listMembers,
  putMapping,
  putRole,
  removeMapping,
  removeRole,
  resumeMember,
  suspendMember,
  type MemberChanger,
} from "../domain/identity/change-members.ts";
import { rolesOf, type GroupMapping, type Member } from "../domain/identity/member.ts";
import type { MemberStore } from "../domain/identity/member-store.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { memberStates, roles, roleSources, wordOf } from "./words.ts";

const USUAL_LIMIT = 100;

/** Members are changed by people, and by no run in their name. */
export function memberMethods(store: MemberStore): ServiceImpl<typeof MemberService> {
  return {
    getMe: async (_request, context) => {
      const { principal } = callContext(context);
      const member = await store.find(principal.organization, principal.id);
      const held = member === undefined ? principal.roles : rolesOf(member);
      return {
        organization: principal.organization,
        principal: principal.id,
        roles: held.map((role) => roles[role]),
        member: member && encodeMember(member),
      };
    },
    listMembers: async ({ text, after, limit }, context) => {
      refuseControlCharacters({ text, after });
      const wanted = limit || USUAL_LIMIT;
      const members = await listMembers(store, changerOf(context).principal, { text, after, limit: wanted + 1 });
      return { members: members.slice(0, wanted).map(encodeMember), hasMore: members.length > wanted };
    },
    putRole: async ({ principal, role }, context) => {
      refuseControlCharacters({ principal });
      return { member: encodeMember(await putRole(store, changerOf(context), principal, wordOf(roles, role)!)) };
    },
    removeRole: async ({ principal, role }, context) => {
      refuseControlCharacters({ principal });
      return { member: encodeMember(await removeRole(store, changerOf(context), principal, wordOf(roles, role)!)) };
    },
    suspendMember: async ({ principal }, context) => {
      refuseControlCharacters({ principal });
      return { member: encodeMember(await suspendMember(store, changerOf(context), principal)) };
    },
    resumeMember: async ({ principal }, context) => {
      refuseControlCharacters({ principal });
      return { member: encodeMember(await resumeMember(store, changerOf(context), principal)) };
    },
    listGroupMappings: async (_request, context) => ({
      mappings: (await listMappings(store, changerOf(context).principal)).map(encodeMapping),
    }),
    putGroupMapping: async ({ mapping }, context) => {
      await putMapping(store, changerOf(context), decodeMapping(mapping!));
      return {};
    },
    removeGroupMapping: async ({ mapping }, context) => {
      await removeMapping(store, changerOf(context), decodeMapping(mapping!));
      return {};
    },
  };
}

function changerOf(context: HandlerContext): MemberChanger {
  const { principal, delegation, traceId } = callContext(context);
  demandPerson(delegation);
  return { principal, traceId };
}

export function decodeMapping({ group, gives }: GroupMappingMessage): GroupMapping {
  refuseControlCharacters({ group });
  if (gives.case === "team") return { group, kind: "team", gives: gives.value };
  return { group, kind: "role", gives: wordOf(roles, gives.value ?? 0)! };
}

function encodeMapping({ group, kind, gives }: GroupMapping): MessageInitShape<typeof GroupMappingSchema> {
  if (kind === "team") return { group, gives: { case: "team", value: gives } };
  return { group, gives: { case: "role", value: roles[gives as keyof typeof roles] } };
}

function encodeMember(member: Member): MessageInitShape<typeof MemberSchema> {
  const { principal, name, email, state, teams, createdAt, lastSeenAt } = member;
  return {
    principal,
    name,
    email,
    state: memberStates[state],
    roles: member.roles.map(({ role, source, group }) => ({ role: roles[role], source: roleSources[source], group })),
    teams: [...teams],
    createdAt: timestampFromDate(createdAt),
    lastSeenAt: lastSeenAt && timestampFromDate(lastSeenAt),
  };
}
