import { enumWord } from "@hlvm/ndjson/enum-word";
import { AgentProfileSchema, ProfileSource, ProfileSourceSchema, type AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { noteMistakes } from "../agents/note-mistakes.ts";
import { readProfiles } from "../agents/read-profiles.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

/** The profiles that there are here, and what is wrong with those that are left out. */
export async function agentList(flags: { json?: boolean; workspace?: string }, { config, screen }: CommandContext): Promise<number> {
  const { profiles, mistakes } = await readProfiles(config.directory, readWorkspace(flags.workspace ?? "."));
  if (flags.json === true) {
    for (const profile of profiles) process.stdout.write(jsonLine({ type: "agent", ...summary(profile) }));
    for (const { path, line, message, isFatal } of mistakes)
      process.stdout.write(jsonLine({ type: "agent_mistake", path, line, message, is_fatal: isFatal }));
    return EXIT_OK;
  }
  process.stdout.write(table(["AGENT", "FROM", "TOOLS", "DESCRIPTION"], profiles.map(row)));
  noteMistakes(mistakes, screen);
  return EXIT_OK;
}

function summary(profile: AgentProfile): object {
  const { instructions: _, ...rest } = messageJson(AgentProfileSchema, profile) as Record<string, unknown>;
  return rest;
}

function row({ name, source, path, tools, description }: AgentProfile): string[] {
  const from =
    source === ProfileSource.BUILT_IN ? "HLVM" : source === ProfileSource.WORKSPACE ? path : enumWord(ProfileSourceSchema, source);
  return [name, printableLine(from, 60), tools === undefined ? "all" : String(tools.tools.length), printableLine(description, 100)];
}
