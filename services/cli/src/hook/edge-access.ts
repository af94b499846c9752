import { readFileSync } from "node:fs";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import type { CliConfig } from "../config.ts";
import { ProfileStore } from "../profiles/profile-store.ts";

export interface EdgeAccess {
  readonly url: string;
  readonly token: string;
}

/**
 * The edge that any command would use, where it can be called at once: no mesh is started, and no login made anew.
 * @returns the name of a profile whose login has to be made anew; undefined where no edge is there
 * @throws Error where what is kept of it cannot be read
 */
export function edgeAccess({ edgeUrl, token, profile, directory }: CliConfig): EdgeAccess | { readonly expired: string } | undefined {
  if (edgeUrl !== "") return token.trim() === "" ? undefined : { url: edgeUrl, token: token.trim() };
  const chosen = new ProfileStore(directory).chosen(profile);
  if (chosen !== undefined) {
    const { url, accessToken, expiresAt } = chosen.profile;
    return Date.parse(expiresAt) > Date.now() ? { url, token: accessToken } : { expired: chosen.name };
  }
  const state = readMeshState(directory);
  return state && { url: state.edgeUrl, token: readFileSync(state.tokenFile, "utf8").trim() };
}
