import { describe, expect, it } from "vitest";
import { ROLES, type Role } from "@hlvm/identity/principal";
import { askCedar } from "./ask-cedar.ts";
import { demandAuthority, hasAuthority, mayAnswer, type Authority } from "./authority.ts";

const NEEDED: Readonly<Record<Authority, readonly Role[]>> = {
  run_tools: ["developer", "admin"],
  answer_approvals: ["approver", "admin"],
  set_budgets: ["admin"],
  manage_teams: ["admin"],
  manage_members: ["admin"],
  read_audit: ["security-auditor", "admin"],
};

describe("authority", () => {
  it.each(Object.entries(NEEDED) as [Authority, readonly Role[]][])("to %s is what these roles give, and no other", (authority, needed) => {
    for (const role of ROLES) expect([role, hasAuthority({ roles: [role] }, authority)]).toEqual([role, needed.includes(role)]);
    expect(hasAuthority({ roles: [] }, authority)).toBe(false);
    expect(hasAuthority({ roles: ["root" as Role, 'x", "admin' as Role] }, authority)).toBe(false);
  });

  it("says which role is missing, by its name", () => {
    const ben = { organization: "acme", id: "user:ben", roles: ["developer"] as const };
    expect(() => demandAuthority(ben, "read_audit")).toThrow(/user:ben may not read the audit log: that takes the role security-auditor/);
  });

  it("does not answer what one asked for oneself, at the levels that take four eyes, whatever one's roles", () => {
    const everything = { roles: ROLES };
    const own = (level: "L1" | "L2", levels: readonly ("L1" | "L2")[]) => mayAnswer(everything, { isOwn: true, level }, new Set(levels));
    expect([own("L2", ["L2"]), own("L1", ["L2"]), own("L1", ["L1", "L2"]), own("L2", [])]).toEqual([false, true, false, true]);
    expect(mayAnswer(everything, { isOwn: false, level: "L2" }, new Set(["L2"]))).toBe(true);
    expect(mayAnswer({ roles: ["developer"] }, { isOwn: false, level: "L1" }, new Set())).toBe(false);
  });

  it("is a no where a question does not fit the schema, or is about another organization", () => {
    const organization = (id: string) => ({ type: "HLVM::Organization", id });
    const admin = (of: string) => ({
      uid: { type: "HLVM::User", id: "ada" },
      attrs: { organization: { __entity: organization(of) } },
      parents: [{ type: "HLVM::Role", id: "admin" }],
    });
    const asked = (of: string, action = "read_audit", attrs = {}) =>
      askCedar({
        principal: admin(of).uid,
        action,
        resource: organization("acme"),
        entities: [admin(of), { uid: organization("acme"), attrs: { fourEyes: [], ...attrs }, parents: [] }],
      });
    expect([asked("acme"), asked("other"), asked("acme", "no_such_action"), asked("acme", "read_audit", { more: 1 })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
