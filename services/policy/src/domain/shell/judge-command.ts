import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import type { CallJudgement } from "../judge/call-judgement.ts";
import { commandScope } from "./command-scope.ts";
import { findDanger } from "./find-danger.ts";
import { findDestruction } from "./find-destruction.ts";
import { judgeWords } from "./judge-words.ts";
import { literalWords } from "./literal-words.ts";
import { looseCommands } from "./loose-commands.ts";
import { staysInWorkspace } from "./stays-in-workspace.ts";
import type { WordReader } from "./word-reader.ts";

/** `workingDirectory` is where the command starts, relative to the workspace; left out, the workspace itself. */
export type JudgeCommand = (command: string, workingDirectory?: string) => CallJudgement;

/**
 * Judges a shell command without trying to understand the shell. L0 and L1 are only for the literal subset, where the
 * readers agree on every word and every part is on the list of its program; all else is L2. Beside that, a loose
 * reading of whatever the text may be looks for what destroys and what is dangerous. The sandbox is the boundary; this
 * decides whom to ask.
 */
export function createCommandJudge(readers: readonly WordReader[]): JudgeCommand {
  return (command, workingDirectory = ".") => {
    const parts = agreedParts(command, readers);
    const level = parts === undefined ? "L2" : levelIn(workingDirectory, parts);
    if (level !== "L2") return { level, scope: [] };
    const loose = looseCommands(command);
    return {
      level,
      destructive: findDestruction(loose),
      danger: findDanger(command, loose),
      scope: commandScope(command, parts, workingDirectory),
    };
  };
}

function agreedParts(command: string, readers: readonly WordReader[]): readonly (readonly string[])[] | undefined {
  const parts = literalWords(command);
  if (parts === undefined) return undefined;
  const text = JSON.stringify(parts);
  return readers.every((read) => JSON.stringify(read(command)) === text) ? parts : undefined;
}

function levelIn(workingDirectory: string, parts: readonly (readonly string[])[]): SafetyLevel {
  const level = highestLevel(parts);
  return level === "L1" && !staysInWorkspace(parts, workingDirectory) ? "L2" : level;
}

function highestLevel(parts: readonly (readonly string[])[]): SafetyLevel {
  let highest: SafetyLevel = "L0";
  for (const words of parts) {
    const level = judgeWords(words);
    if (level === "L2") return level;
    if (level > highest) highest = level;
  }
  return highest;
}
