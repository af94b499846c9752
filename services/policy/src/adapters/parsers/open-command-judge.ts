import { createCallJudge } from "../../domain/judge/create-call-judge.ts";
import type { JudgeCall } from "../../domain/judge/call-judgement.ts";
import { createCommandJudge } from "../../domain/shell/judge-command.ts";
import { loadTreeSitterWords } from "./tree-sitter-words.ts";
import { unbashWords } from "./unbash-words.ts";

let opened: Promise<JudgeCall> | undefined;

/** The judge with both parsers, loaded by the first call: a service that decides nothing does without their memory. */
export function openJudge(): Promise<JudgeCall> {
  opened ??= loadTreeSitterWords().then((treeSitterWords) => createCallJudge(createCommandJudge([treeSitterWords, unbashWords])));
  opened.catch(() => (opened = undefined));
  return opened;
}
