import { Command, InvalidArgumentError, Option } from "commander";
import { usageDimensionWords } from "@hlvm/proto/hlvm/session/v1/spending_words";
import type { CommandContext, Finish } from "../command.ts";
import type { BudgetSetFlags } from "../commands/budget-set.ts";
import type { CostFlags } from "../commands/cost.ts";
import type { CostBreaksFlags } from "../commands/cost-breaks.ts";
import { budgetOptions } from "../options/budget-flags.ts";
import { jsonOption, moment } from "./values.ts";

const WHOSE = "organization, team:NAME, user:NAME, token:ID, or session:ID";

const ABOUT_COST = `
Money is what the price table of the model gateway says of each call when it was settled; "unknown" where it has no price.
By tool: what a tool's results took of the call that read them first, by estimated tokens, of the cost of its input. Later
calls read them again, mostly from the cache; that is not counted for the tool. The rows of tools therefore come to less than all.
By team: a call counts for every team of its person, so the rows may come to more than all.
Days are those of UTC. You see your own; administrators and security auditors see everybody's.`;

const ABOUT_BREAKS = `
A provider reads again from its cache, for a tenth of the price or so, what a session's call before had sent. A break is a call
that paid anew for a fifth of that or more. Causes: model (another one), tools and system (what stands before the conversation
changed), messages (compacted, undone, or taken up elsewhere), idle (a pause of more than five minutes), provider (none of these).
The cost is what these tokens cost more than from the cache.`;

export function budgetCommand(context: CommandContext, finish: Finish): Command {
  const budget = new Command("budget").description("what may be used: money, tokens, turns, time");
  budget
    .command("list")
    .description("list budgets, with what is used and held for calls under way")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { budgetList } = await import("../commands/budget-list.ts");
      finish(await budgetList(flags, context));
    });
  const set = budget.command("set").description("set one, or change its limit; what was used stays used. 0 lets nothing happen");
  for (const option of budgetOptions("they together")) set.addOption(option);
  set
    .argument("<whose>", WHOSE, whose)
    .addOption(new Option("--per <period>", "anew every day or month (UTC); without it once and for all").choices(["day", "month"]))
    .addOption(jsonOption())
    .action(async (name: string, flags: BudgetSetFlags) => {
      const { budgetSet } = await import("../commands/budget-set.ts");
      finish(await budgetSet(name, flags, context));
    });
  budget
    .command("remove")
    .description("remove one")
    .argument("<whose>", WHOSE, whose)
    .addOption(new Option("--kind <kind>", "of what").choices(["money", "tokens", "turns", "time"]).makeOptionMandatory())
    .addOption(new Option("--per <period>", "that of every day or month").choices(["day", "month"]))
    .addOption(jsonOption())
    .action(async (name: string, flags: { kind: string; per?: "day" | "month"; json?: boolean }) => {
      const { budgetRemove } = await import("../commands/budget-set.ts");
      finish(await budgetRemove(name, flags, context));
    });
  return budget;
}

export function costCommand(context: CommandContext, finish: Finish): Command {
  const command = new Command("cost")
    .description("what model calls used and cost")
    .addOption(
      new Option("--by <dimensions>", `${usageDimensionWords.join(", ")}; several separated by commas`)
        .argParser(dimensions)
        .default(["day"], "day"),
    )
    .addOption(new Option("--since <time>", "not before: 30m, 1h, 7d ago, or 2026-11-21T10:00:00Z").argParser(moment))
    .addOption(new Option("--until <time>", "before").argParser(moment))
    .addOption(new Option("--csv", "as a table for a spreadsheet").conflicts("json"))
    .addOption(jsonOption())
    .addHelpText("after", ABOUT_COST)
    .action(async (flags: CostFlags) => {
      const { cost } = await import("../commands/cost.ts");
      finish(await cost(flags, context));
    });
  command
    .command("breaks")
    .description("where providers' caches broke: why, and what it cost")
    .addOption(new Option("--session <id>", "of one session"))
    .addOption(new Option("--since <time>", "not before: 30m, 1h, 7d ago, or 2026-11-21T10:00:00Z").argParser(moment))
    .addOption(new Option("--until <time>", "before").argParser(moment))
    .addOption(jsonOption())
    .addHelpText("after", ABOUT_BREAKS)
    // What both take, commander gives to the command before.
    .action(async (_: CostBreaksFlags, breaks: Command) => {
      const { costBreaks } = await import("../commands/cost-breaks.ts");
      finish(await costBreaks(breaks.optsWithGlobals<CostBreaksFlags>(), context));
    });
  return command;
}

function dimensions(value: string): string[] {
  const words = value.split(",").map((word) => word.trim());
  const wrong = words.find((word) => !(usageDimensionWords as readonly string[]).includes(word));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is none of ${usageDimensionWords.join(", ")}.`);
  return [...new Set(words)];
}

function whose(value: string): string {
  if (value !== "organization" && !/^(team|user|token|session):./.test(value)) throw new InvalidArgumentError(`Give ${WHOSE}.`);
  return value;
}
