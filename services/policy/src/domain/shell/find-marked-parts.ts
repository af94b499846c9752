import type { DecidingStep } from "../decide/decision.ts";
import type { CallJudgement } from "../judge/call-judgement.ts";
import { commandParts } from "./command-parts.ts";
import type { TextRange } from "./text-range.ts";

/** Why policy asks about a command. */
export interface AskedCommand {
  readonly command: string;
  readonly level: CallJudgement["level"];
  readonly step: DecidingStep;
  readonly rule: string;
}

type JudgePart = (part: string) => Promise<CallJudgement | undefined>;

/** A text of more commands is marked as a whole. */
const MAXIMUM_PARTS = 200;

/**
 * Where in a command that stands which made policy ask: of its parts those that are judged so by themselves; where they cannot
 * be told apart, the words of the rule; else all of it. It is for showing, and decides nothing.
 */
export async function findMarkedParts(asked: AskedCommand, judge: JudgePart): Promise<TextRange[]> {
  const parts = commandParts(asked.command);
  if (parts !== undefined && parts.length <= MAXIMUM_PARTS) {
    const judged = await Promise.all(parts.map(async (part) => ({ part, judgement: await judge(textOf(asked, part)) })));
    const guilty = judged.filter(({ judgement }) => judgement === undefined || isReason(asked, judgement));
    if (guilty.length > 0) return guilty.map(({ part }) => part);
    const highest = judged
      .map(({ judgement }) => judgement?.level ?? "L2")
      .toSorted()
      .at(-1)!;
    // Together they are more than each alone: after a `cd`, for one, or on lines of their own.
    const changing = judged.filter(({ part, judgement }) => judgement?.level === highest || /^cd\s/.test(textOf(asked, part)));
    if (highest !== "L0") return changing.map(({ part }) => part);
  }
  const words = wordsOfRule(asked);
  return words.length > 0 ? words : [{ start: 0, end: asked.command.length }];
}

function textOf({ command }: AskedCommand, { start, end }: TextRange): string {
  return command.slice(start, end);
}

function isReason({ step, level }: AskedCommand, judgement: CallJudgement): boolean {
  if (step === "command_safety") return judgement.danger !== undefined;
  if (step === "destructive") return judgement.destructive !== undefined;
  return judgement.level === level;
}

/** `destructive: git reset --hard` and `remote: ssh` name words of the command. */
function wordsOfRule({ command, step, rule }: AskedCommand): TextRange[] {
  if (step !== "command_safety" && step !== "destructive") return [];
  const words = new Set(
    rule
      .slice(rule.indexOf(":") + 1)
      .split(" ")
      .filter((word) => word !== ""),
  );
  return Array.from(command.matchAll(/[^\s;|&()<>`'"$\\]+/g))
    .filter(([word]) => words.has(word.slice(word.lastIndexOf("/") + 1)))
    .map(({ 0: word, index }) => ({ start: index, end: index + word.length }));
}
