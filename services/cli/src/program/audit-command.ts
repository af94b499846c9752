import { Command, Option } from "commander";
import { auditKindWords } from "@hlvm/proto/hlvm/audit/v1/audit_words";
import { decidingStepWords, decisionWords } from "@hlvm/proto/hlvm/policy/v1/policy_words";
import type { CommandContext, Finish } from "../command.ts";
import type { AuditQueryFlags } from "../commands/audit-query.ts";
import type { WhoApprovedFlags } from "../commands/audit-who-approved.ts";
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
    .option("--path <path>", "that name this path or one below it")
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 1000)).default(100))
    .addOption(jsonOption())
    .action(async (flags: AuditQueryFlags) => {
      const { auditQuery } = await import("../commands/audit-query.ts");
      finish(await auditQuery(flags, context));
    });
  audit
    .command("who-approved")
    .description("list calls that were let through, and who answered, or what let them through where nobody was asked")
    .addOption(new Option("--session <session-id>", "of this session").argParser(sessionId))
    .option("--call <id>", "this call, as --json of a query names it")
    .option("--tool <name>", "of this tool")
    .option("--principal <name>", "that this user asked for")
    .option("--approver <name>", "that this user answered")
    .option("--path <path>", "that name this path or one below it")
    .option("--text <words>", "with this in the arguments, rule, reason or outcome")
    .addOption(new Option("--since <time>", "not before: 30m, 1h, 7d ago, or 2026-11-21T10:00:00Z").argParser(moment))
    .addOption(new Option("--until <time>", "not after").argParser(moment))
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 1000)).default(100))
    .addOption(jsonOption())
    .action(async (flags: WhoApprovedFlags) => {
      const { auditWhoApproved } = await import("../commands/audit-who-approved.ts");
      finish(await auditWhoApproved(flags, context));
    });
  audit
    .command("touched")
    .description("list calls that named a file or a folder, let through or not, newest first")
    .argument("<path>", "as tools were given it: relative to the workspace, or as it stands in a command")
    .addOption(new Option("--session <session-id>", "of this session").argParser(sessionId))
    .addOption(new Option("--since <time>", "not before: 30m, 1h, 7d ago, or 2026-11-21T10:00:00Z").argParser(moment))
    .addOption(new Option("--until <time>", "not after").argParser(moment))
    .addOption(new Option("--limit <number>", "how many").argParser(wholeNumber(1, 1000)).default(100))
    .addOption(jsonOption())
    .action(async (path: string, flags: AuditQueryFlags) => {
      const { auditQuery } = await import("../commands/audit-query.ts");
      finish(await auditQuery({ ...flags, path }, context));
    });
  return audit;
}
