import { Command, Option } from "commander";
import { auditKindWords } from "@hlvm/proto/hlvm/audit/v1/audit_words";
import { decidingStepWords, decisionWords } from "@hlvm/proto/hlvm/policy/v1/policy_words";
import type { CommandContext, Finish } from "../command.ts";
import type { AuditQueryFlags } from "../commands/audit-query.ts";
import { jsonOption, moment, sessionId, wholeNumber } from "./values.ts";

export function auditCommand(context: CommandContext, finish: Finish): Command {
  const audit = new Command("audit").description("who asked for what, who decided, by which step, and what came of it");
  audit
    .command("query")
    .description("list tool calls, newest first, or the events of another kind")
    .addOption(new Option("--kind <kind>", "events of this kind; without it the decision on each call").choices(auditKindWords))
    .option("--tool <name>", "of this tool")
    .option("--principal <name>", "of this user, for example user:ada")
    .addOption(new Option("--decision <decision>", "that were decided so").choices(decisionWords))
    .addOption(new Option("--step <step>", "that this step decided").choices(decidingStepWords))
    .addOption(new Option("--session <session-id>", "of this session").argParser(sessionId))
    .addOption(new Option("--since <time>", "not before: 30m, 1h, 7d ago, or 2026-11-21T10:00:00Z").argParser(moment))
    .addOption(new Option("--until <time>", "not after").argParser(moment))
    .option("--text <words>", "with this in the arguments, rule, reason or outcome")
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 1000)).default(100))
    .addOption(jsonOption())
    .action(async (flags: AuditQueryFlags) => {
      const { auditQuery } = await import("../commands/audit-query.ts");
      finish(await auditQuery(flags, context));
    });
  return audit;
}
