import { Command, Option } from "commander";
import { approvalStateWords } from "@hlvm/proto/hlvm/policy/v1/policy_words";
import type { CommandContext, Finish } from "../command.ts";
import type { ApprovalListFlags } from "../commands/approval-list.ts";
import type { ApprovalNoFlags } from "../commands/approval-no.ts";
import type { ApprovalYesFlags, SeenApproval } from "../commands/approval-yes.ts";
import { approvalId, argumentsHash, jsonOption, moment, sessionId, wholeNumber } from "./values.ts";

const REASON = "why, in your words: on record, and after a no the model reads it";

export function approvalCommand(context: CommandContext, finish: Finish): Command {
  const approval = new Command("approval").description("what waits for somebody's yes or no");
  approval
    .command("list")
    .description("list what waits for an answer, oldest first; or, newest first, what is in another state")
    .addOption(new Option("--state <states...>", "in these states").choices(approvalStateWords))
    .addOption(new Option("--session <session-id>", "of this session").argParser(sessionId))
    .option("--tool <name>", "for this tool")
    .addOption(new Option("--level <level>", "of this safety level").choices(["L0", "L1", "L2"]))
    .option("--requested-by <name>", "that this user's runs ask for, for example user:ada")
    .option("--answered-by <name>", "that this user answered")
    .addOption(new Option("--since <time>", "asked not before: 30m, 1h, 7d ago, or 2026-11-21T10:00:00Z").argParser(moment))
    .addOption(new Option("--before <time>", "asked before").argParser(moment))
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 500)))
    .addOption(jsonOption())
    .action(async (flags: ApprovalListFlags) => {
      const { approvalList } = await import("../commands/approval-list.ts");
      finish(await approvalList(flags, context));
    });
  approval
    .command("show")
    .description("show all of one, with whatever would hide in it")
    .argument("<approval-id>", "see `hlvm approval list`", approvalId)
    .addOption(new Option("--json", "as one JSON object, with the hash of its arguments"))
    .action(async (id: string, flags: { json?: boolean }) => {
      const { approvalShow } = await import("../commands/approval-show.ts");
      finish(await approvalShow(id, flags, context));
    });
  approval
    .command("yes")
    .description("see all of one and allow it, or deny it after all; or allow several that are alike, as ID=HASH each")
    .argument("<approval-id...>", "see `hlvm approval list`", seenApprovals)
    .addOption(new Option("--arguments-hash <hash>", "allow what `hlvm approval show` showed with this hash").argParser(argumentsHash))
    .option("--reason <text>", REASON)
    .addOption(new Option("--json", "one JSON object for each that was given as ID=HASH"))
    .action(async (seen: readonly SeenApproval[], flags: ApprovalYesFlags) => {
      const { approvalYes } = await import("../commands/approval-yes.ts");
      finish(await approvalYes(seen, flags, context));
    });
  approval
    .command("no")
    .description("deny one or several")
    .argument("<approval-id...>", "see `hlvm approval list`", approvalIds)
    .option("--reason <text>", REASON)
    .addOption(new Option("--json", "one JSON object for each"))
    .action(async (ids: readonly string[], flags: ApprovalNoFlags) => {
      const { approvalNo } = await import("../commands/approval-no.ts");
      finish(await approvalNo(ids, flags, context));
    });
  return approval;
}

function approvalIds(value: string, before?: readonly string[]): readonly string[] {
  return [...(before ?? []), approvalId(value)];
}

/** `ID`, or `ID=HASH`. */
function seenApprovals(value: string, before: readonly SeenApproval[] = []): readonly SeenApproval[] {
  const [id = "", ...hash] = value.split("=");
  return [...before, { approvalId: approvalId(id), ...(hash.length === 0 ? {} : { argumentsHash: argumentsHash(hash.join("=")) }) }];
}
