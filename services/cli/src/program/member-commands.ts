import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { ROLES, type Role } from "@hlvm/identity/principal";
import type { CommandContext, Finish } from "../command.ts";
import type { GroupGift } from "../commands/group-change.ts";
import { oneJson } from "./login-commands.ts";
import { jsonOption } from "./values.ts";

const ABOUT_ROLES = `
Roles:
  developer         asks, steers and changes sessions
  approver          answers what waits for approval
  admin             changes members, roles, teams and budgets
  security-auditor  reads the audit log
Members are there from their first login on. What is changed counts within a second.`;

interface Flags {
  readonly json?: boolean;
}

export function memberCommand(context: CommandContext, finish: Finish): Command {
  const member = new Command("member").description("the people of the organization").addHelpText("after", ABOUT_ROLES);
  member
    .command("list")
    .description("list them, with their roles and from where they have them")
    .option("--text <text>", "found in principal, name or e-mail")
    .addOption(jsonOption())
    .action(async (flags: Flags & { text?: string }) => {
      const { memberList } = await import("../commands/member-list.ts");
      finish(await memberList(flags, context));
    });
  const role = member.command("role").description("give roles, and take them").addHelpText("after", ABOUT_ROLES);
  for (const [name, description, what] of [
    ["add", "give somebody a role", "putRole"],
    ["remove", "take a role that was given by hand", "removeRole"],
  ] as const)
    role
      .command(name)
      .description(description)
      .argument("<principal>", "user:NAME, as `hlvm member list` shows it", principalOf)
      .addArgument(new Argument("<role>").choices(ROLES))
      .addOption(oneJson())
      .action(async (principal: string, given: Role, flags: Flags) => {
        const { memberChange } = await import("../commands/member-change.ts");
        finish(await memberChange({ what, principal, role: given }, flags, context));
      });
  for (const [name, description, what] of [
    ["suspend", "let somebody in no more, at once: page, commands, tokens", "suspendMember"],
    ["resume", "let them in again; they log in anew", "resumeMember"],
  ] as const)
    member
      .command(name)
      .description(description)
      .argument("<principal>", "user:NAME, as `hlvm member list` shows it", principalOf)
      .addOption(oneJson())
      .action(async (principal: string, flags: Flags) => {
        const { memberChange } = await import("../commands/member-change.ts");
        finish(await memberChange({ what, principal }, flags, context));
      });
  return member;
}

export function groupCommand(context: CommandContext, finish: Finish): Command {
  const group = new Command("group")
    .description("what the identity provider's groups give their members here")
    .addHelpText("after", ABOUT_ROLES);
  group
    .command("list")
    .description("list what is given")
    .addOption(jsonOption())
    .action(async (flags: Flags) => {
      const { groupList } = await import("../commands/group-list.ts");
      finish(await groupList(flags, context));
    });
  for (const [name, description, what] of [
    ["map", "have a group give its members a role, or a place in a team", "putGroupMapping"],
    ["unmap", "end that, at once", "removeGroupMapping"],
  ] as const)
    group
      .command(name)
      .description(description)
      .argument("<group>", "as the identity provider names it")
      .addOption(new Option("--role <role>").choices(ROLES))
      .option("--team <team>", "by name")
      .action(async (given: string, gift: GroupGift) => {
        const { groupChange } = await import("../commands/group-change.ts");
        finish(await groupChange(what, given, gift, context));
      });
  return group;
}

export function adminCommand(context: CommandContext, finish: Finish): Command {
  const admin = new Command("admin").description("what is done on the server itself");
  admin
    .command("bootstrap")
    .description("name the first administrator, while there is none")
    .argument("<email>", "the address that the identity provider has of them")
    .action(async (email: string) => {
      const { adminBootstrap } = await import("../commands/admin-bootstrap.ts");
      finish(await adminBootstrap(email, context));
    });
  return admin;
}

function principalOf(value: string): string {
  if (!/^user:./.test(value)) throw new InvalidArgumentError("Give user:NAME; `hlvm member list` shows them.");
  return value;
}
