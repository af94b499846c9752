import { Command, InvalidArgumentError, Option } from "commander";
import { auditFieldWords } from "@hlvm/proto/hlvm/audit/v1/audit_words";
import type { CommandContext, Finish } from "../command.ts";
import type { AuditAggregateFlags } from "../commands/audit-aggregate.ts";
import type { AuditExportFlags } from "../commands/audit-export.ts";
import type { AuditQueryFlags } from "../commands/audit-query.ts";
import type { AuditTailFlags } from "../commands/audit-tail.ts";
import type { WhoApprovedFlags } from "../commands/audit-who-approved.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { withAuditFilter, withTimes } from "./audit-filter-options.ts";
import { jsonOption, sessionId, wholeNumber } from "./values.ts";

export function auditCommand(context: CommandContext, finish: Finish): Command {
  const audit = new Command("audit").description("who asked for what, who decided, by which step, and what came of it");
  const named = (name: string, description: string): Command => audit.command(name).description(description);
  const limit = (fallback = 100, maximum = 1_000): Option =>
    new Option("--limit <number>", "how many").argParser(wholeNumber(1, maximum)).default(fallback);

  withAuditFilter(named("query", "list tool calls, newest first, or the events of another kind"))
    .addOption(limit())
    .addOption(jsonOption())
    .action(async (flags: AuditQueryFlags) => {
      const { auditQuery } = await import("../commands/audit-query.ts");
      finish(await auditQuery(flags, context));
    });
  withTimes(named("who-approved", "list calls that were let through, and who answered, or what let them through where nobody was asked"))
    .addOption(new Option("--session <session-id>", "of this session").argParser(sessionId))
    .option("--call <id>", "this call, as --json of a query names it")
    .option("--tool <name>", "of this tool")
    .option("--principal <name>", "that this user asked for")
    .option("--approver <name>", "that this user answered")
    .option("--path <path>", "that name this path or one below it")
    .option("--text <words>", "with this in the arguments, rule, reason or outcome")
    .addOption(limit())
    .addOption(jsonOption())
    .action(async (flags: WhoApprovedFlags) => {
      const { auditWhoApproved } = await import("../commands/audit-who-approved.ts");
      finish(await auditWhoApproved(flags, context));
    });
  withTimes(named("touched", "list calls that named a file, a folder or a host, let through or not, newest first"))
    .argument("[path]", "as tools were given it: relative to the workspace, or as it stands in a command")
    .option("--host <name>", "that name this host or one below it")
    .addOption(new Option("--session <session-id>", "of this session").argParser(sessionId))
    .addOption(limit())
    .addOption(jsonOption())
    .action(async (path: string | undefined, flags: AuditQueryFlags) => {
      if (path === undefined && flags.host === undefined)
        throw wrongUsage("Nothing is named that may have been touched.", "Give a path, or a host with --host.");
      const { auditQuery } = await import("../commands/audit-query.ts");
      finish(await auditQuery({ ...flags, path }, context));
    });
  named("timeline", "show all that is on record about a session, oldest first")
    .argument("<session-id>", "see `hlvm session list`", sessionId)
    .addOption(limit(1_000, 100_000))
    .addOption(jsonOption())
    .action(async (id: string, flags: { limit: number; json?: boolean }) => {
      const { auditTimeline } = await import("../commands/audit-timeline.ts");
      finish(await auditTimeline(id, flags, context));
    });
  withAuditFilter(named("aggregate", "count events by their fields and over time"))
    .addOption(
      new Option("--by <fields>", `${auditFieldWords.join(", ")}; several separated by commas`)
        .argParser(fieldList)
        .default(["decision", "tool"], "decision,tool"),
    )
    .addOption(new Option("--top <number>", "how many values of a field").argParser(wholeNumber(1, 100)).default(10))
    .addOption(new Option("--buckets <number>", "at most so many spans of time").argParser(wholeNumber(0, 500)).default(24))
    .addOption(new Option("--json", "as one JSON object"))
    .action(async (flags: AuditAggregateFlags) => {
      const { auditAggregate } = await import("../commands/audit-aggregate.ts");
      finish(await auditAggregate(flags, context));
    });
  withAuditFilter(named("tail", "show events as they are recorded, until Ctrl-C"))
    .addOption(jsonOption())
    .action(async (flags: AuditTailFlags) => {
      const { auditTail } = await import("../commands/audit-tail.ts");
      finish(await auditTail(flags, context));
    });
  withAuditFilter(named("export", "write everything that fits to standard output, newest first"))
    .addOption(new Option("--format <format>", "for programs, or for a spreadsheet").choices(["ndjson", "csv"]).default("ndjson"))
    .action(async (flags: AuditExportFlags) => {
      const { auditExport } = await import("../commands/audit-export.ts");
      finish(await auditExport(flags, context));
    });
  return audit;
}

function fieldList(value: string): string[] {
  const fields = value.split(",").map((word) => word.trim());
  const unknown = fields.find((field) => !(auditFieldWords as readonly string[]).includes(field));
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no field "${unknown}". There are: ${auditFieldWords.join(", ")}.`);
  return [...new Set(fields)];
}
