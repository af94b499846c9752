import { randomBytes } from "node:crypto";
import { closeSync, constants, lstatSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageJson } from "@hlvm/ndjson/message-json";
import { MemoryService, ProjectSchema } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";

const HEADINGS = ["PROJECT", "NAME", "SINCE", "MEMBERS"] as const;

/** Projects of one's own; for an administrator, of the whole organization. */
export async function memoryProjects(flags: { readonly json?: boolean }, context: CommandContext): Promise<number> {
  const { projects } = await withMesh(context, (transport) => createClient(MemoryService, transport).listProjects({}));
  if (flags.json === true) for (const project of projects) process.stdout.write(jsonLine(messageJson(ProjectSchema, project)));
  else if (projects.length === 0) context.screen.note("You have had no session in any project.");
  else
    process.stdout.write(
      table(
        HEADINGS,
        projects.map(({ projectId, name, createdAt, members }) => [projectId, name, localTime(createdAt), members.join(", ")]),
      ),
    );
  return EXIT_OK;
}

/** Has somebody see a project's facts, or not any more. */
export async function memoryProjectMember(
  { projectId, principal, isMember }: { readonly projectId: string; readonly principal: string; readonly isMember: boolean },
  flags: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const project = await withMesh(context, async (transport) => {
    const memory = createClient(MemoryService, transport);
    const asked = { projectId, principal };
    return (await (isMember ? memory.addProjectMember(asked) : memory.removeProjectMember(asked))).project!;
  });
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(ProjectSchema, project)));
  else context.screen.note(`Members of ${project.name}: ${project.members.join(", ") || "nobody"}.`);
  return EXIT_OK;
}

/** Makes an id for the project of this folder, where it is no repository: whoever has a copy of the file has the project. */
export function memoryProjectInit(context: CommandContext): number {
  const folder = join(readWorkspace("."), ".hlvm");
  mkdirSync(folder, { recursive: true });
  if (!lstatSync(folder).isDirectory()) throw refused(`${folder} is no folder`);
  const file = join(folder, "project");
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  } catch (cause) {
    throw refused((cause as NodeJS.ErrnoException).code === "EEXIST" ? `${file} is there already` : String(cause));
  }
  writeSync(descriptor, `${randomBytes(16).toString("hex")}\n`);
  closeSync(descriptor);
  context.screen.note(`Made ${file}. The next session here has the project; give the file to those who shall share it.`);
  return EXIT_OK;
}

function refused(why: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "project_not_made",
    message: `No project was made: ${why}.`,
    advice: "Keep the one that is there.",
  });
}
