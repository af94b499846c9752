import { textOf, type Effort, type Generation, type Message } from "../../domain/generation.ts";
import { notSupported } from "../not-supported.ts";
import { asReminder, splitSystem } from "../system-messages.ts";
import { CLAUDE_CODE } from "./claude-failure.ts";
import type { ClaudeStart } from "./claude-process.ts";

/** A name is a word of the command line. */
export const MODEL_NAME = /^[a-z0-9][\w.:@[\]-]{0,127}$/i;
/** There is none for none at all. */
const EFFORTS: Readonly<Record<Effort, string>> = {
  none: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  maximum: "max",
};
/** Nothing of the machine or of a person: no tools, servers, settings, skills or hooks, nothing kept. */
const ALONE = [
  "--print",
  "--verbose",
  "--input-format=stream-json",
  "--output-format=stream-json",
  "--include-partial-messages",
  "--tools=",
  "--strict-mcp-config",
  "--setting-sources=",
  "--disable-slash-commands",
  "--no-session-persistence",
  "--no-chrome",
  "--permission-prompts=none",
  "--max-turns=1",
];
const SWITCH = "Take another model with --model.";

export interface ClaudeRequest {
  readonly start: ClaudeStart;
  /** What was said before, in order. */
  readonly earlier: readonly ClaudeLine[];
  readonly question: ClaudeLine;
}

export interface ClaudeLine {
  readonly type: "user" | "assistant";
  /** Of the user: no answer is wanted. */
  readonly shouldQuery?: false;
  readonly message: { readonly role: string; readonly content: readonly { readonly type: "text"; readonly text: string }[] };
}

/**
 * A request in the words of the program. It takes no sampling, and no keys of caches; an effort is what it has nearest.
 * @throws ModelError `request_not_supported` for what would change the answer, tools above all
 */
export function claudeRequest(generation: Generation): ClaudeRequest {
  refuseWhatItCannot(generation);
  const { leading, conversation } = splitSystem(generation.messages);
  const said = conversation.map(lineOf).filter(({ message }) => message.content[0]!.text !== "");
  const question = said.at(-1);
  if (question?.type !== "user") throw notSupported(CLAUDE_CODE, "a conversation that does not end with the user", SWITCH);
  const effort = generation.effort === undefined ? [] : [`--effort=${EFFORTS[generation.effort]}`];
  return {
    start: {
      words: [...ALONE, `--model=${generation.model}`, ...effort],
      system: leading.join("\n\n"),
      outputTokens: generation.maximumOutputTokens,
    },
    earlier: said.slice(0, -1).map((line) => (line.type === "user" ? { ...line, shouldQuery: false } : line)),
    question,
  };
}

function refuseWhatItCannot({ model, tools, stopSequences, outputFormat, serviceTier, messages }: Generation): void {
  if (!MODEL_NAME.test(model)) throw notSupported(CLAUDE_CODE, "a model of this name", SWITCH);
  if (tools.length > 0) throw notSupported(CLAUDE_CODE, "tools of the caller", SWITCH);
  if (stopSequences !== undefined) throw notSupported(CLAUDE_CODE, "stop sequences", SWITCH);
  if (outputFormat !== undefined) throw notSupported(CLAUDE_CODE, "JSON by a schema", SWITCH);
  if (serviceTier !== undefined && serviceTier !== "standard") throw notSupported(CLAUDE_CODE, `the service tier ${serviceTier}`, SWITCH);
  const other = messages.flatMap(({ parts }) => parts).find(({ kind }) => kind !== "text" && kind !== "thinking");
  if (other !== undefined) throw notSupported(CLAUDE_CODE, `a conversation with a ${other.kind.replace("-", " ")}`, SWITCH);
}

function lineOf(message: Message): ClaudeLine {
  const type = message.role === "assistant" ? "assistant" : "user";
  const text = message.role === "system" ? asReminder(message) : textOf(message);
  return { type, message: { role: type, content: [{ type: "text", text }] } };
}
