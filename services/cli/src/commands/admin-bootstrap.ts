import { readFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { postJson } from "../profiles/post-json.ts";
import { printableLine } from "../terminal/printable.ts";

/** Names the first administrator, with what only who runs the server has: its token file, or its content in HLVM_TOKEN. */
export async function adminBootstrap(email: string, { config, screen }: CommandContext): Promise<number> {
  const { url, token } = config.edgeUrl === "" ? ofThisMachine(config.directory) : { url: config.edgeUrl, token: config.token };
  const { body } = await postJson(new URL("/auth/bootstrap", url), { email }, `Bearer ${token}`);
  const { principal = "" } = body;
  if (principal === "") screen.note(`Who logs in with the address ${printableLine(email)} next is an administrator.`);
  else screen.note(`${printableLine(principal)} is an administrator.`);
  return EXIT_OK;
}

function ofThisMachine(directory: string): { readonly url: string; readonly token: string } {
  const mesh = readMeshState(directory);
  if (mesh === undefined)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "mesh_not_up",
      message: "No mesh is up on this machine.",
      advice: "Run this where HLVM runs, as the user who started it; or set HLVM_EDGE_URL and HLVM_TOKEN to what the server has.",
    });
  return { url: mesh.edgeUrl, token: readFileSync(mesh.tokenFile, "utf8").trim() };
}
