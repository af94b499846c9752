import { HlvmError } from "@hlvm/errors/hlvm-error";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { openBrowser } from "../mesh/open-browser.ts";
import { pageLink } from "../mesh/page-link.ts";

/** Opens the page of this machine's mesh in a browser, or prints the link that does. */
export async function web({ print }: { readonly print?: boolean }, { config, screen }: CommandContext): Promise<number> {
  const mesh = readMeshState(config.directory);
  if (mesh === undefined)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "mesh_not_up",
      message: "No mesh is up, and the page needs one that stays.",
      advice: "Start it with `npm start` (or `hlvm up`) in another terminal, and run this again.",
    });
  const link = await pageLink(mesh.edgeUrl, mesh.tokenFile);
  if (print !== true && (await openBrowser(link))) {
    screen.note(`Opened ${mesh.edgeUrl} in your browser.`);
    return EXIT_OK;
  }
  process.stdout.write(`${link}\n`);
  screen.note("It opens the page once, within a minute.", "dim");
  return EXIT_OK;
}
