import { AgentProfileSchema, ProfileSource, type AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { findProfile } from "../agents/chosen-profile.ts";
import { noteMistakes } from "../agents/note-mistakes.ts";
import { readProfiles } from "../agents/read-profiles.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { printable, printableLine } from "../terminal/printable.ts";

/** One profile, whole: what a model is told of it has no hidden character that is not shown here. */
export async function agentShow(
  name: string,
  flags: { json?: boolean; workspace?: string },
  { config, screen }: CommandContext,
): Promise<number> {
  const read = await readProfiles(config.directory, readWorkspace(flags.workspace ?? "."));
  noteMistakes(
    read.mistakes.filter(({ isFatal }) => isFatal),
    screen,
  );
  const profile = findProfile(name, read);
  if (flags.json === true) process.stdout.write(jsonLine({ type: "agent", ...messageJson(AgentProfileSchema, profile) }));
  else process.stdout.write(text(profile));
  return EXIT_OK;
}

function text(profile: AgentProfile): string {
  const { name, source, path, tools, model, temperature, maximumOutputTokens, canSpawn, workers, instructions, description } = profile;
  const lines = [
    `agent ${name}`,
    printableLine(description, 1_000),
    `from ${source === ProfileSource.BUILT_IN ? "HLVM" : printableLine(path, 500)}`,
    `tools ${tools === undefined ? "all that the run may use" : tools.tools.join(", ")}`,
    `model ${model === "" ? "that of the run" : printableLine(model)}`,
    ...(temperature === undefined ? [] : [`temperature ${temperature}`]),
    ...(maximumOutputTokens === 0 ? [] : [`output at most ${maximumOutputTokens} tokens`]),
    `workers ${canSpawn ? workers.join(", ") || "any profile" : "none"}`,
    ...(instructions === "" ? [] : ["", printable(instructions)]),
  ];
  return `${lines.join("\n")}\n`;
}
