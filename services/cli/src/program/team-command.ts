import { Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import { jsonOption } from "./values.ts";

const ABOUT_TEAMS = `
A team's budget limits what its members begin together: hlvm budget set --team NAME --money 50. A run counts against the teams that
its person was in when it began. Only administrators change teams, and each change is in the audit log.`;

interface Flags {
  readonly json?: boolean;
}

export function teamCommand(context: CommandContext, finish: Finish): Command {
  const team = new Command("team").description("who belongs together, and shares a budget").addHelpText("after", ABOUT_TEAMS);
  const oneJson = (): Option => new Option("--json", "as one JSON object");
  team
    .command("list")
    .description("list the teams and who is in them: yours, or all for who administers or audits")
    .addOption(jsonOption())
    .action(async (flags: Flags) => {
      const { teamList } = await import("../commands/team-list.ts");
      finish(await teamList(flags, context));
    });
  for (const [name, description, what] of [
    ["create", "make a team without members", "createTeam"],
    ["delete", "delete a team; nobody else is told", "deleteTeam"],
  ] as const)
    team
      .command(name)
      .description(description)
      .argument("<name>", "small letters, digits and hyphens", teamName)
      .addOption(oneJson())
      .action(async (one: string, flags: Flags) => {
        const { teamChange } = await import("../commands/team-change.ts");
        finish(await teamChange({ what, team: one }, flags, context));
      });
  for (const [name, description, what] of [
    ["add", "have people be in a team", "addTeamMember"],
    ["remove", "have people be in a team no more", "removeTeamMember"],
  ] as const)
    team
      .command(name)
      .description(description)
      .argument("<team>", "as `hlvm team list` shows it", teamName)
      .argument("<person...>", "for example user:ada", person)
      .addOption(oneJson())
      .action(async (one: string, people: string[], flags: Flags) => {
        const { teamChange } = await import("../commands/team-change.ts");
        finish(await teamChange({ what, team: one, people }, flags, context));
      });
  return team;
}

function teamName(value: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(value))
    throw new InvalidArgumentError("A team's name has small letters, digits and hyphens, 64 at most.");
  return value;
}

/** @param before those that were given before it */
function person(value: string, before: readonly string[] | undefined): string[] {
  if (!/^user:[^\p{Cc}]{1,251}$/u.test(value)) throw new InvalidArgumentError("A person is written user:NAME.");
  return [...(before ?? []), value];
}
