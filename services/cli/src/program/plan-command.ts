import { Command, Option } from "commander";
import { PERMISSION_MODES } from "@hlvm/ndjson/permission-mode-name";
import type { CommandContext, Finish } from "../command.ts";
import type { PlanAcceptFlags } from "../commands/plan-accept.ts";
import { approvalId, argumentsHash, jsonOption, sessionId, wholeNumber } from "./values.ts";

export function planCommand(context: CommandContext, finish: Finish): Command {
  const plan = new Command("plan").description("the plan that a run in plan mode waits with");
  const one = (name: string, description: string): Command =>
    plan.command(name).description(description).argument("<session-id>", "see `hlvm session list`", sessionId);
  one("show", "show it, or what became of the last one")
    .addOption(new Option("--json", "as one JSON object"))
    .action(async (id: string, flags: { json?: boolean }) => {
      const { planShow } = await import("../commands/plan-show.ts");
      finish(await planShow(id, flags, context));
    });
  one("accept", "see it and accept it, changed or as it is: the run goes on in another mode")
    .addOption(
      new Option("--mode <mode>", "with --file or --arguments-hash: the mode in which the run goes on")
        .choices(PERMISSION_MODES.filter((mode) => mode !== "plan"))
        .default("default"),
    )
    .option("--file <file>", "accept the plan as this file has it")
    .addOption(new Option("--arguments-hash <hash>", "accept what `hlvm plan show` showed with this hash").argParser(argumentsHash))
    .action(async (id: string, flags: PlanAcceptFlags) => {
      const { planAccept } = await import("../commands/plan-accept.ts");
      finish(await planAccept(id, flags, context));
    });
  one("reject", "reject it; the model is told why")
    .argument("[words]", "why, or what you want instead", "")
    .action(async (id: string, words: string) => {
      const { planReject } = await import("../commands/plan-accept.ts");
      finish(await planReject(id, words, context));
    });
  return plan;
}

export function questionCommand(context: CommandContext, finish: Finish): Command {
  const question = new Command("question").description("what a model asks its person");
  const one = (name: string, description: string): Command =>
    question.command(name).description(description).argument("<approval-id>", "see `hlvm question list`", approvalId);
  question
    .command("list")
    .description("list what models ask you, oldest first; `hlvm approval list` lists it too")
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { questionList } = await import("../commands/question-list.ts");
      finish(await questionList(flags, context));
    });
  one("answer", "answer one; whatever is answered allows nothing")
    .argument("[words]", "the answer")
    .addOption(new Option("--choice <number>", "the choice of this number").argParser(wholeNumber(1, 9)))
    .action(async (id: string, words: string | undefined, flags: { choice?: number }) => {
      const { questionAnswer } = await import("../commands/question-answer.ts");
      finish(await questionAnswer(id, words, flags, context));
    });
  one("decline", "leave one unanswered")
    .argument("[words]", "what the model is told", "")
    .action(async (id: string, words: string) => {
      const { questionDecline } = await import("../commands/question-answer.ts");
      finish(await questionDecline(id, words, context));
    });
  return question;
}
