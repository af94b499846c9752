import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { ApplyFlags } from "../commands/apply.ts";
import { jsonOption, sessionId } from "./values.ts";

const ABOUT = `
Each file is merged three-way: what the session began with, what is here, and what the session made of it. Nothing that you
changed is overwritten. Where the same lines were changed on both sides, nothing at all is written, unless --conflicts is given.
Exit codes: 0 applied, or there was nothing to apply; 3 there are conflicts; 1 it failed; 2 wrong usage.`;

export function applyCommand(context: CommandContext, finish: Finish): Command {
  return new Command("apply")
    .description("bring home what a session changed in a workspace that was cloned or sent, into the repository you are in")
    .argument("<session-id>", "see `hlvm session list`", sessionId)
    .option("--check", "only say what would be done")
    .addOption(new Option("--conflicts", "apply what can be, and leave conflict markers in the files").conflicts("check"))
    .addOption(jsonOption())
    .addHelpText("after", ABOUT)
    .action(async (id: string, flags: ApplyFlags) => {
      const { apply } = await import("../commands/apply.ts");
      finish(await apply(id, flags, context));
    });
}
