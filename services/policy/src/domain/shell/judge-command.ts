import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import type { CallJudgement } from "../judge/call-judgement.ts";
import { commandScope } from "./command-scope.ts";
import { findDanger } from "./find-danger.ts";
import { findDestruction } from "./find-destruction.ts";
import { judgeWords } from "./judge-words.ts";
import { literalWords } from "./literal-words.ts";
import { looseCommands } from "./loose-commands.ts";
import { goesElsewhere, staysInWorkspace } from "./stays-in-workspace.ts";
import type { CommandPart, Redirection, WordReader } from "./word-reader.ts";

const DEVICES = /^\/+(\.\/+)*dev(\/|$)/;

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
      scope: commandScope(command, plainParts(parts), workingDirectory),
    };
  };
}

function agreedParts(command: string, readers: readonly WordReader[]): readonly CommandPart[] | undefined {
  const parts = literalWords(command);
  if (parts === undefined) return undefined;
  const text = JSON.stringify(parts);
  return readers.every((read) => JSON.stringify(read(command)) === text) ? parts : undefined;
}

function levelIn(workingDirectory: string, parts: readonly CommandPart[]): SafetyLevel {
  const level = highestLevel(parts);
  if (level === "L2" || (goesElsewhere(parts, workingDirectory) && parts.some(isGit))) return "L2";
  // What may write has to be read without a doubt: nothing in it expands.
  return level === "L1" && (parts.some(expands) || !staysInWorkspace(parts, workingDirectory)) ? "L2" : level;
}

function highestLevel(parts: readonly CommandPart[]): SafetyLevel {
  let highest: SafetyLevel = "L0";
  for (const { words, redirections } of parts) {
    const level = redirections.every(isHarmlessRedirection) ? judgeWords(words) : "L2";
    if (level === "L2") return level;
    if (level > highest) highest = level;
  }
  return highest;
}

/** What the answer for a session may cover is said by words; what expands or is redirected to a file is covered as it is written. */
function plainParts(parts: readonly CommandPart[] | undefined): readonly (readonly string[])[] | undefined {
  if (parts?.every((part) => !expands(part) && part.redirections.every(isSilencing)) !== true) return undefined;
  return parts.map(({ words }) => words.map(({ text }) => text));
}

function isGit({ words }: CommandPart): boolean {
  const texts = words.map(({ text }) => text);
  return texts[0] === "git" || (/^(env|timeout|nice)$/.test(texts[0] ?? "") && texts.includes("git"));
}

function expands({ words }: CommandPart): boolean {
  return words.some(({ expansion }) => expansion !== undefined);
}

/** Output that nobody wants to see, or that goes where the other output goes. */
function isSilencing({ operator, descriptor, target }: Redirection): boolean {
  if (descriptor !== undefined && descriptor !== 1 && descriptor !== 2) return false;
  return operator === ">&" ? /^[12]$/.test(target) : (operator === ">" || operator === ">>") && target === "/dev/null";
}

/** That, or input from a file: to some shells `/dev/tcp/…` is a connection. */
function isHarmlessRedirection(redirection: Redirection): boolean {
  if (isSilencing(redirection)) return true;
  const { operator, descriptor, target } = redirection;
  return operator === "<" && (descriptor ?? 0) === 0 && (target === "/dev/null" || !DEVICES.test(target));
}
