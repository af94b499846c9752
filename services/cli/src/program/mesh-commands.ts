import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import { jsonOption } from "./values.ts";

/** What starts, ends and examines this machine's mesh. */
export function meshCommands(context: CommandContext, finish: Finish): Command[] {
  return [
    new Command("up")
      .description("start the mesh of this machine and keep it up until Ctrl-C")
      .option("--team", "as a company has it: two people, who log in with an identity provider of the demonstration")
      .action(async (flags: { team?: boolean }) => {
        const { up } = await import("../commands/up.ts");
        finish(await up(context, flags.team));
      }),
    new Command("web")
      .description("open the page of this machine's mesh in a browser")
      .option("--print", "print the link, which is good once and for a minute, instead of opening it")
      .action(async (flags: { print?: boolean }) => {
        const { web } = await import("../commands/web.ts");
        finish(await web(flags, context));
      }),
    new Command("down").description("end the mesh of this machine").action(async () => {
      const { down } = await import("../commands/down.ts");
      finish(await down(context));
    }),
    new Command("status")
      .description("say whether the mesh is up, and what it consists of")
      .addOption(new Option("--json", "as one JSON object"))
      .action(async (flags: { json?: boolean }) => {
        const { status } = await import("../commands/status.ts");
        finish(await status(flags, context));
      }),
    new Command("backup")
      .description("write all data of this machine's mesh into a folder, while it runs: databases, keys, checkpoints")
      .argument("<folder>", "one that does not exist yet")
      .addOption(new Option("--json", "as one JSON object"))
      .action(async (folder: string, flags: { json?: boolean }) => {
        const { backup } = await import("../commands/backup.ts");
        finish(await backup(folder, flags, context));
      }),
    new Command("restore")
      .description("bring a backup back into the HLVM directory; no mesh may be up there")
      .argument("<folder>", "that `hlvm backup` has written")
      .option("--replace", "put the data that are there aside")
      .addOption(new Option("--json", "as one JSON object"))
      .action(async (folder: string, flags: { replace?: boolean; json?: boolean }) => {
        const { restore } = await import("../commands/backup.ts");
        finish(await restore(folder, flags, context));
      }),
    new Command("doctor")
      .description("check what HLVM needs on this machine, and say what to do")
      .addOption(jsonOption())
      .action(async (flags: { json?: boolean }) => {
        const { doctor } = await import("../commands/doctor.ts");
        finish(await doctor(flags, context));
      }),
  ];
}
