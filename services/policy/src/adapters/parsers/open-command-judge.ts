import type { OpenCommandJudge } from "../../domain/judge/create-call-judge.ts";
import { createCommandJudge, type JudgeCommand } from "../../domain/shell/judge-command.ts";
import { loadTreeSitterWords } from "./tree-sitter-words.ts";
import { unbashWords } from "./unbash-words.ts";

let opened: Promise<JudgeCommand> | undefined;

/** With both parsers, loaded for the first shell command: a service that judges none does without their time and memory. */
export const openCommandJudge: OpenCommandJudge = () => {
  opened ??= loadTreeSitterWords().then((treeSitterWords) => createCommandJudge([treeSitterWords, unbashWords]));
  opened.catch(() => (opened = undefined));
  return opened;
};
