import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import type { LoginFlags } from "../commands/login.ts";
import { jsonOption } from "./values.ts";

const ABOUT_LOGINS = `
Without a login, hlvm uses the mesh of this machine. With one it uses the edge that you logged in to last:
  hlvm login https://hlvm.example.com          opens your browser
  hlvm login https://hlvm.example.com --device prints a code to type in a browser elsewhere
  hlvm profile use local                       back to this machine; HLVM_PROFILE or --profile choose for one command
HLVM_EDGE_URL with HLVM_TOKEN, as for programs, goes before all of it.`;

export function loginCommands(context: CommandContext, finish: Finish): Command[] {
  const login = new Command("login")
    .description("log in to an HLVM elsewhere")
    .argument("<url>", "where its page is")
    .option("--profile <name>", "what you will call this login (default: the host's name)")
    .option("--device", "in a browser on another machine, by a code")
    .addHelpText("after", ABOUT_LOGINS)
    .action(async (url: string, flags: LoginFlags) => {
      const command = await import("../commands/login.ts");
      finish(await command.login(url, flags, context));
    });
  const logout = new Command("logout").description("end a login, there and here").action(async () => {
    const command = await import("../commands/logout.ts");
    finish(await command.logout("", context));
  });
  const profile = new Command("profile").description("where you are logged in").addHelpText("after", ABOUT_LOGINS);
  profile
    .command("list")
    .description("list your logins")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { profileList } = await import("../commands/profile.ts");
      finish(profileList(flags, context));
    });
  profile
    .command("use")
    .description("use a login from now on")
    .argument("<name>", "as `hlvm profile list` shows it; local: this machine's mesh")
    .action(async (name: string) => {
      const { profileUse } = await import("../commands/profile.ts");
      finish(await profileUse(name, context));
    });
  profile
    .command("remove")
    .description("end a login and forget it, also where its edge does not answer")
    .argument("<name>", "as `hlvm profile list` shows it")
    .action(async (name: string) => {
      const command = await import("../commands/logout.ts");
      finish(await command.logout(name, context, true));
    });
  return [login, logout, profile];
}

export const oneJson = (): Option => new Option("--json", "as one JSON object");
