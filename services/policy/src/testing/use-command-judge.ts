import { beforeAll } from "vitest";
import { openCommandJudge } from "../adapters/parsers/open-command-judge.ts";
import type { JudgeCommand } from "../domain/shell/judge-command.ts";

interface CommandJudge {
  readonly judge: JudgeCommand;
  readonly levelOf: (command: string) => string;
  /** Those of the commands that are at another level. */
  readonly notAt: (level: string, commands: readonly string[]) => string[];
}

/** The judge with both parsers, which are loaded before the tests of the file. */
export function useCommandJudge(): CommandJudge {
  let opened: JudgeCommand;
  beforeAll(async () => {
    opened = await openCommandJudge();
  });

  const judge: JudgeCommand = (command, workingDirectory) => opened(command, workingDirectory);
  const levelOf = (command: string): string => judge(command).level;
  return { judge, levelOf, notAt: (level, commands) => commands.filter((command) => levelOf(command) !== level) };
}
