import { createClient } from "@connectrpc/connect";
import { FactScope, MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { WikiScope, WikiService } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { printableLine } from "../terminal/printable.ts";
import { counted } from "../terminal/sizes.ts";
import { projectFiles } from "../wiki/projection.ts";
import { wikiFiles } from "../wiki/wiki-files.ts";

const MOST_PINNED = 100;

export interface WikiProjectFlags {
  readonly check?: boolean;
  readonly json?: boolean;
}

/** Writes the project's pages and MEMORY.md into a folder, such as one of its repository. */
export async function memoryWikiProject(folder: string, flags: WikiProjectFlags, context: CommandContext): Promise<number> {
  const target = readWorkspace(folder);
  const project = readWorkspace(".");
  const files = await withMesh(context, async (transport) => {
    const wiki = createClient(WikiService, transport);
    const { pages } = await wiki.listWikiPages({ project });
    const ours = pages.filter(({ scope }) => scope === WikiScope.PROJECT);
    const whole = await Promise.all(ours.map(async ({ name, scope }) => (await wiki.getWikiPage({ project, name, scope })).page!));
    const filter = { project, scope: FactScope.PROJECT };
    const { facts } = await createClient(MemoryService, transport).listFacts({ filter, pinned: true, limit: MOST_PINNED });
    return wikiFiles(whole, facts);
  });
  const done = projectFiles(target, files, flags.check === true);
  const changed = done.filter(({ change }) => change !== "unchanged");
  if (flags.json === true) for (const file of done) process.stdout.write(jsonLine({ ...file }));
  else for (const { path, change } of changed) process.stdout.write(`${change === "removed" ? "-" : "+"} ${printableLine(path)}\n`);
  if (flags.check === true && changed.length > 0) {
    context.screen.note(`${counted(changed.length, "file")} would change; \`hlvm memory wiki project ${folder}\` writes them.`, "warning");
    return EXIT_FAILED;
  }
  if (flags.json !== true) context.screen.note(`${counted(done.length, "file")}, ${changed.length} changed.`);
  return EXIT_OK;
}
