import { latestQuestion, textOf, type Generation, type RequestedCall } from "../../domain/generation.ts";
import { parseArguments } from "../parse-arguments.ts";

/** What a tool came to. */
export interface ToolOutcome {
  readonly tool: string;
  readonly arguments: { readonly [name: string]: unknown };
  readonly content: string;
  readonly isError: boolean;
}

/** Everything that the demo model goes by. */
export interface Situation {
  readonly question: string;
  /** What the tools returned since the question, in order. */
  readonly outcomes: readonly ToolOutcome[];
  /** Facts that the platform put before the model. */
  readonly memory: readonly string[];
  /** Names of the tools that may be called. */
  readonly offered: ReadonlySet<string>;
}

export interface DemoCall {
  readonly tool: string;
  readonly arguments: { readonly [name: string]: unknown };
}

/** No calls: the text is the answer. */
export interface DemoTurn {
  readonly text: string;
  readonly calls: readonly DemoCall[];
}

export function readSituation(generation: Generation): Situation {
  const { question, since } = latestQuestion(generation.messages);
  const calls = new Map<string, RequestedCall>();
  const outcomes: ToolOutcome[] = [];
  for (const part of since.flatMap((message) => message.parts)) {
    if (part.kind === "tool-call") calls.set(part.id, part);
    if (part.kind !== "tool-result") continue;
    const call = calls.get(part.id);
    outcomes.push({
      tool: part.tool || (call?.tool ?? ""),
      arguments: parseArguments(call?.argumentsJson ?? "") ?? {},
      content: part.content,
      isError: part.isError,
    });
  }
  return { question, outcomes, memory: memoryOf(generation), offered: new Set(generation.tools.map((tool) => tool.name)) };
}

function memoryOf(generation: Generation): readonly string[] {
  const texts = generation.messages.filter((message) => message.role === "system").map(textOf);
  const memory = texts.find((text) => text.startsWith("# Your Memory")) ?? "";
  return memory.split("\n").flatMap((line) => /^[-*] (.+)$/.exec(line)?.[1] ?? []);
}
