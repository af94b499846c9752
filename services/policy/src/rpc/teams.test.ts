import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TeamResolverService, TeamService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { failure } from "../testing/test-calls.ts";

const ada: Principal = { organization: "acme", id: "user:ada", roles: ["developer", "admin"] };
const ben: Principal = { organization: "acme", id: "user:ben", roles: ["developer"] };
const eve: Principal = { organization: "acme", id: "user:eve", roles: ["security-auditor"] };
const namesake: Principal = { ...ada, organization: "other" };

let policy: TestPolicy;
beforeAll(async () => {
  policy = await startTestPolicy();
});
afterAll(() => policy.close());

const teams = () => createClient(TeamService, createMeshTransport(policy.url));
const listed = async (principal: Principal) =>
  (await teams().listTeams({}, policy.as(principal))).teams.map(({ name, members }) => [name, ...members]);
const create = (name: string, principal = ada) => teams().createTeam({ name }, policy.as(principal));
const add = (team: string, principal: string, by = ada) => teams().addTeamMember({ team, principal }, policy.as(by));
const remove = (team: string, principal: string, by = ada) => teams().removeTeamMember({ team, principal }, policy.as(by));
const resolve = async (principal: string, organization = "acme") =>
  (await createClient(TeamResolverService, createMeshTransport(policy.url)).resolveTeams({ organization, principal }, policy.asEdge()))
    .teams;

describe("teams", () => {
  it("are made and filled by administrators, seen by those in them and by who audits, and told to the edge", async () => {
    await create("red");
    await create("blue");
    await add("red", "user:ben");
    expect((await add("red", "user:ada")).team!.members).toEqual(["user:ada", "user:ben"]);
    await add("blue", "user:ben");
    expect(await resolve("user:ben")).toEqual(["blue", "red"]);
    expect(await resolve("user:ben", "other")).toEqual([]);
    expect(await listed(ada)).toEqual([
      ["blue", "user:ben"],
      ["red", "user:ada", "user:ben"],
    ]);
    expect(await listed(eve)).toHaveLength(2);
    expect(await listed({ ...ben, id: "user:zoe" })).toEqual([]);
    expect((await remove("red", "user:ada")).team!.members).toEqual(["user:ben"]);
    await teams().deleteTeam({ name: "blue" }, policy.as(ada));
    expect(await resolve("user:ben")).toEqual(["red"]);
    expect(await listed(ben)).toEqual([["red", "user:ben"]]);
  });

  it("are of one organization, changed by its administrators alone, and by no run of theirs", async () => {
    await create("green");
    expect(await listed(namesake)).toEqual([]);
    for (const attempt of [() => add("green", "user:ben", namesake), () => remove("green", "user:ben", namesake)])
      expect(await failure(attempt())).toMatchObject({ reason: "team_not_found" });
    for (const attempt of [() => create("mine", ben), () => add("green", "user:ben", ben), () => remove("green", "user:x", eve)])
      expect(await failure(attempt())).toMatchObject({ code: "permission_denied", reason: "role_missing" });
    const run = policy.forRun({ principal: ada });
    expect(await failure(teams().addTeamMember({ team: "green", principal: "user:ben" }, run))).toMatchObject({ reason: "person_needed" });
    const resolver = createClient(TeamResolverService, createMeshTransport(policy.url));
    for (const options of [policy.as(ada), run])
      await expect(resolver.resolveTeams({ organization: "acme", principal: "user:ben" }, options)).rejects.toThrow(
        /may call this|no token that policy accepts/,
      );
  });

  it("refuse a name that is none, one that is taken, a team that there is not, and too many for one person", async () => {
    await create("taken");
    expect(await failure(create("taken"))).toMatchObject({ reason: "team_exists" });
    for (const name of ["", "Red", "a b", "-x", "x".repeat(65)])
      expect(await failure(create(name))).toMatchObject({ code: "invalid_argument" });
    for (const principal of ["ada", "service:edge", "user:", "user:a\u0000b"])
      expect(await failure(add("taken", principal))).toMatchObject({ code: "invalid_argument" });
    expect(await failure(add("none", "user:ben"))).toMatchObject({ reason: "team_not_found" });
    expect(await failure(teams().deleteTeam({ name: "none" }, policy.as(ada)))).toMatchObject({ reason: "team_not_found" });
    for (let index = 0; index < 50; index++) {
      await create(`many-${index}`);
      await add(`many-${index}`, "user:busy");
    }
    expect(await failure(add("taken", "user:busy"))).toMatchObject({ reason: "too_many_teams" });
    await add("many-0", "user:busy");
  });

  it("change on record, once each", async () => {
    await create("noted");
    for (const _ of [1, 2]) await add("noted", "user:ben");
    for (const _ of [1, 2]) await remove("noted", "user:ben");
    await teams().deleteTeam({ name: "noted" }, policy.as(ada));
    const { TEAM_CREATED, TEAM_MEMBER_ADDED, TEAM_MEMBER_REMOVED, TEAM_DELETED } = AuditKind;
    for (const kind of [TEAM_CREATED, TEAM_MEMBER_ADDED, TEAM_MEMBER_REMOVED, TEAM_DELETED]) {
      const { events } = await policy.audit.query({ kind }, policy.as(ada));
      const about = events.filter(({ argumentsJson }) => argumentsJson.includes('"noted"'));
      expect(about).toMatchObject([{ principal: "user:ada" }]);
    }
    await expect(policy.database.database.query("UPDATE identity.team SET name = 'x'")).rejects.toThrow(/permission denied/);
  });
});
