import { randomUUID } from "node:crypto";
import type { Viewer } from "../domain/viewer.ts";

/** Somebody in an organization that no other test knows. */
export function newcomer(): Viewer {
  return { organization: randomUUID(), principal: "user:ada", project: "/src/engine", mayWriteTeamFacts: true };
}
