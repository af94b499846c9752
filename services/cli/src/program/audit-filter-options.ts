import { Option, type Command } from "commander";
import { PERMISSION_MODES } from "@hlvm/ndjson/permission-mode-name";
import { auditKindWords, outcomeStatusWords } from "@hlvm/proto/hlvm/audit/v1/audit_words";
import { decidingStepWords, decisionWords } from "@hlvm/proto/hlvm/policy/v1/policy_words";
import { moment, sessionId, uuidOf } from "./values.ts";

const runId = uuidOf("a run's id; `hlvm audit query --json` names them");

/** The flags of commands that read the audit log, by what they narrow it to. */
export function withAuditFilter(command: Command): Command {
  return withTimes(command)
    .addOption(new Option("--kind <kind>", "events of this kind; without it the decision on each call").choices(auditKindWords))
    .option("--tool <name>", "of this tool")
    .option("--principal <name>", "of this user, for example user:ada")
    .addOption(new Option("--decision <decision>", "that were decided so").choices(decisionWords))
    .addOption(new Option("--step <step>", "that this step decided").choices(decidingStepWords))
    .option("--rule <beginning>", "whose rule begins so, for example disallowedTools")
    .addOption(new Option("--outcome <outcome>", "of which this came").choices(outcomeStatusWords))
    .addOption(new Option("--level <level>", "of this safety level").choices(["L0", "L1", "L2"]))
    .addOption(new Option("--mode <mode>", "decided in this permission mode").choices(PERMISSION_MODES))
    .addOption(new Option("--session <session-id>", "of this session").argParser(sessionId))
    .addOption(new Option("--run <run-id>", "of this run").argParser(runId))
    .option("--call <id>", "of this call, as --json names it")
    .option("--text <words>", "with this in the arguments, rule, reason or outcome")
    .option("--path <path>", "that name this path or one below it")
    .option("--host <name>", "that name this host or one below it");
}

export function withTimes(command: Command): Command {
  return command
    .addOption(new Option("--since <time>", "not before: 30m, 1h, 7d ago, or 2026-11-21T10:00:00Z").argParser(moment))
    .addOption(new Option("--until <time>", "not after").argParser(moment));
}
