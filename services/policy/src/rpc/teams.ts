import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { TeamResolverService, TeamSchema, TeamService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { callContext, demandService } from "@hlvm/rpc/call-context";
import { demandPerson } from "../domain/demand-person.ts";
import { addTeamMember, createTeam, deleteTeam, listTeams, removeTeamMember, type TeamChanger } from "../domain/identity/change-teams.ts";
import type { Team, TeamStore } from "../domain/identity/team-store.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";

/** Teams are changed by people, and by no run in their name. */
export function teamMethods(store: TeamStore): ServiceImpl<typeof TeamService> {
  return {
    listTeams: async (_request, context) => ({ teams: (await listTeams(store, callContext(context).principal)).map(encodeTeam) }),
    createTeam: async ({ name }, context) => ({ team: encodeTeam(await createTeam(store, changerOf(context), name)) }),
    deleteTeam: async ({ name }, context) => {
      await deleteTeam(store, changerOf(context), name);
      return {};
    },
    addTeamMember: async ({ team, principal }, context) => {
      refuseControlCharacters({ principal });
      return { team: encodeTeam(await addTeamMember(store, changerOf(context), team, principal)) };
    },
    removeTeamMember: async ({ team, principal }, context) => {
      refuseControlCharacters({ principal });
      return { team: encodeTeam(await removeTeamMember(store, changerOf(context), team, principal)) };
    },
  };
}

export function teamResolverMethods(store: TeamStore): ServiceImpl<typeof TeamResolverService> {
  return {
    resolveTeams: async ({ organization, principal }, context) => {
      demandService(context, "edge", "orchestrator");
      return { teams: await store.of(organization, principal) };
    },
  };
}

function changerOf(context: HandlerContext): TeamChanger {
  const { principal, delegation, traceId } = callContext(context);
  demandPerson(delegation);
  return { principal, traceId };
}

function encodeTeam({ name, members, createdAt }: Team): MessageInitShape<typeof TeamSchema> {
  return { name, members: [...members], createdAt: timestampFromDate(createdAt) };
}
