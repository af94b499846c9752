import { createHash } from "node:crypto";
import type { Fact, FactScope } from "./fact.ts";
import type { Viewer } from "./viewer.ts";

/** Who may see a fact, as one key: 64 hex digits, so that nobody's name or path becomes part of a filter's syntax. */
export function audienceOf(organization: string, fact: Pick<Fact, "scope" | "owner" | "project">): string {
  const holder: Record<FactScope, string> = { personal: fact.owner, team: "", project: fact.project };
  return createHash("sha256")
    .update(JSON.stringify([organization, fact.scope, holder[fact.scope]]))
    .digest("hex");
}

/** The audiences that a viewer belongs to, in an order that stays. */
export function audiencesOf(viewer: Viewer, scope?: FactScope): string[] {
  const scopes: FactScope[] = viewer.project === "" ? ["personal", "team"] : ["personal", "team", "project"];
  const wanted = scopes.filter((one) => scope === undefined || one === scope);
  return wanted.map((scope) => audienceOf(viewer.organization, { scope, owner: viewer.principal, project: viewer.project }));
}
