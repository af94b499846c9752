import { Command, InvalidArgumentError, Option } from "commander";
import { tokenScopeWords } from "@hlvm/proto/hlvm/identity/v1/identity_words";
import type { CommandContext, Finish } from "../command.ts";
import type { TokenCreateFlags, TokenScopeWord } from "../commands/token-create.ts";
import { budgetOptions } from "../options/budget-flags.ts";
import { jsonOption, uuidOf, wholeNumber } from "./values.ts";

const ABOUT_TOKENS = `
A program that calls with one of your tokens acts in your name, within the token's scopes:
  read     look at sessions, models, memory and what waits for approval
  run      ask, steer and change sessions, write to memory; includes read
  approve  answer what waits for approval
  audit    read the audit log
  admin    set budgets, change teams
  model    call models as OpenAI's and Anthropic's SDKs do, at this server's /v1; run includes it
No token makes or revokes tokens, or trusts a workspace. A token is shown once; what is kept is its hash.

  HLVM_EDGE_URL=http://127.0.0.1:11435 HLVM_TOKEN=hlvm_pat_… hlvm session list`;

export function tokenCommand(context: CommandContext, finish: Finish): Command {
  const token = new Command("token").description("tokens with which programs act in your name").addHelpText("after", ABOUT_TOKENS);
  const create = token.command("create").description("make a token and print it; its budget counts what models are called with it");
  for (const option of budgetOptions("the token")) create.addOption(option);
  create
    .argument("<label>", "what you will know it by")
    .addOption(
      new Option("--scope <scopes>", `of ${tokenScopeWords.join(", ")}, with commas between`).argParser(scopes).default(["read"], "read"),
    )
    .option("--account <name>", "for a service account instead of yourself; takes an administrator, and no approve and no admin")
    .addOption(new Option("--models <names>", "only these models, with commas between: anthropic/*,llama/*").argParser(names))
    .addOption(new Option("--days <days>", "how long it holds (default: 90)").argParser(wholeNumber(1, 366)))
    .addOption(new Option("--per <period>", "its budget is anew every day or month (UTC); without it once").choices(["day", "month"]))
    .addOption(new Option("--json", "as one JSON object"))
    .action(async (label: string, flags: TokenCreateFlags) => {
      const { tokenCreate } = await import("../commands/token-create.ts");
      finish(await tokenCreate(label, flags, context));
    });
  token
    .command("list")
    .description("list your tokens")
    .option("--accounts", "those of service accounts instead, for administrators")
    .addOption(jsonOption())
    .action(async (flags: { accounts?: boolean; json?: boolean }) => {
      const { tokenList } = await import("../commands/token-list.ts");
      finish(await tokenList(flags, context));
    });
  token
    .command("revoke")
    .description("let nobody in with a token any more")
    .argument("<id>", "as `hlvm token list` shows it", uuidOf("a token's id; `hlvm token list` shows them"))
    .addOption(new Option("--json", "as one JSON object"))
    .action(async (id: string, flags: { json?: boolean }) => {
      const { tokenRevoke } = await import("../commands/token-revoke.ts");
      finish(await tokenRevoke(id, flags, context));
    });
  return token;
}

function names(value: string): string[] {
  const all = value.split(",").map((name) => name.trim());
  if (all.some((name) => !/^[!-~]{1,128}$/.test(name)))
    throw new InvalidArgumentError("Give names such as anthropic/*, with commas between.");
  return [...new Set(all)];
}

function scopes(value: string): TokenScopeWord[] {
  return [...new Set(value.split(","))].map((word) => {
    const known = tokenScopeWords.find((one) => one === word.trim());
    if (known === undefined) throw new InvalidArgumentError(`Give some of ${tokenScopeWords.join(", ")}, with commas between.`);
    return known;
  });
}
