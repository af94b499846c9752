import type { EntityJson, TypeAndId } from "@cedar-policy/cedar-wasm/nodejs";
import type { WorkspaceUse } from "@hlvm/grant/workspace-grant";
import { askCedar } from "../authority/ask-cedar.ts";
import type { Share } from "./share-store.ts";

const organization: TypeAndId = { type: "HLVM::Organization", id: "own" };
const session: TypeAndId = { type: "HLVM::Session", id: "asked" };

/** What the shares of one session let a person of its organization do with its workspace; undefined: nothing. Over ones are none. */
export function workspaceUse(
  shares: readonly Pick<Share, "kind" | "subject" | "right">[],
  person: { readonly id: string; readonly teams: readonly string[] },
): WorkspaceUse | undefined {
  const principal = userOf(person.id);
  const driving = shares.filter(({ right }) => right === "drive" || right === "own");
  const entities: EntityJson[] = [
    { uid: organization, attrs: { fourEyes: [] }, parents: [] },
    { uid: principal, attrs: { organization: { __entity: organization } }, parents: person.teams.map(teamOf) },
    {
      uid: session,
      attrs: {
        organization: { __entity: organization },
        viewers: usersOf(shares),
        viewingTeams: teamsOf(shares),
        everybodyViews: isForEverybody(shares),
        drivers: usersOf(driving),
        drivingTeams: teamsOf(driving),
        everybodyDrives: isForEverybody(driving),
      },
      parents: [],
    },
  ];
  if (askCedar({ principal, action: "drive_workspace", resource: session, entities })) return "drive";
  return askCedar({ principal, action: "view_workspace", resource: session, entities }) ? "view" : undefined;
}

type Grantee = Pick<Share, "kind" | "subject">;

function usersOf(shares: readonly Grantee[]) {
  return shares.filter(({ kind }) => kind === "member").map(({ subject }) => ({ __entity: userOf(subject) }));
}

function teamsOf(shares: readonly Grantee[]) {
  return shares.filter(({ kind }) => kind === "team").map(({ subject }) => ({ __entity: teamOf(subject) }));
}

function isForEverybody(shares: readonly Grantee[]): boolean {
  return shares.some(({ kind }) => kind === "organization");
}

function userOf(id: string): TypeAndId {
  return { type: "HLVM::User", id };
}

function teamOf(id: string): TypeAndId {
  return { type: "HLVM::Team", id };
}
