import { Command, Option } from "commander";
import type { CommandContext, Finish } from "../command.ts";
import { approvalId, argumentsHash, jsonOption } from "./values.ts";

export function approvalCommand(context: CommandContext, finish: Finish): Command {
  const approval = new Command("approval").description("what waits for somebody's yes or no");
  const one = (name: string, description: string): Command =>
    approval.command(name).description(description).argument("<approval-id>", "see `hlvm approval list`", approvalId);
  approval
    .command("list")
    .description("list what waits for an answer, oldest first")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { approvalList } = await import("../commands/approval-list.ts");
      finish(await approvalList(flags, context));
    });
  one("show", "show all of one, with whatever would hide in it")
    .addOption(new Option("--json", "as one JSON object, with the hash of its arguments"))
    .action(async (id: string, flags: { json?: boolean }) => {
      const { approvalShow } = await import("../commands/approval-show.ts");
      finish(await approvalShow(id, flags, context));
    });
  one("yes", "see all of one and allow it, or deny it after all")
    .addOption(new Option("--arguments-hash <hash>", "allow what `hlvm approval show` showed with this hash").argParser(argumentsHash))
    .action(async (id: string, flags: { argumentsHash?: string }) => {
      const { approvalYes } = await import("../commands/approval-yes.ts");
      finish(await approvalYes(id, flags, context));
    });
  one("no", "deny one").action(async (id: string) => {
    const { approvalNo } = await import("../commands/approval-no.ts");
    finish(await approvalNo(id, context));
  });
  return approval;
}
