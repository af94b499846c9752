import { create } from "@bufbuild/protobuf";
import { FinishReason, ModelTier, ToolCallPartSchema, type Model, type ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Conversation } from "../fold/conversation.ts";
import type { Prefix } from "../prompt/compile-prefix.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";
import { fitArguments } from "../tools/repair/fit-arguments.ts";
import { wasGiven } from "../tools/repair/was-given.ts";
import { repairToolCalls } from "../tools/repair-tool-calls.ts";
import type { Answer } from "./answer.ts";

/** What an answer is read against. */
export interface AnswerReader {
  readonly model: Model;
  readonly prefix: Prefix;
  /** What the model had before it. */
  readonly conversation: Pick<Conversation, "messages" | "provenanceOf">;
  readonly secrets: RunSecrets;
}

/** What an answer says and calls: of a small model also calls that it wrote into its text, with arguments as their tools take them. */
export function answeredCalls(
  answer: Answer,
  reader: AnswerReader,
): { readonly text: string; readonly toolCalls: readonly ToolCallPart[] } {
  const repaired = isRepairable(answer, reader.model)
    ? repairToolCalls(answer.text, new Set(reader.prefix.tools.map(({ name }) => name)), wasGiven(reader.conversation))
    : undefined;
  if (repaired === undefined) return { text: answer.text, toolCalls: fitted(answer.toolCalls, reader) };
  return {
    text: repaired.text,
    toolCalls: fitted(
      repaired.calls.map((call) => revealed(call, reader.secrets)),
      reader,
    ),
  };
}

/** A call that was found in the answer's text, in which the marks of allowed secrets stand. */
function revealed({ tool, argumentsJson }: Pick<ToolCallPart, "tool" | "argumentsJson">, secrets: RunSecrets): ToolCallPart {
  return create(ToolCallPartSchema, { tool, argumentsJson: secrets.revealArguments(argumentsJson) });
}

function isRepairable(answer: Answer, { tier }: Model): boolean {
  return tier === ModelTier.WEAK && answer.toolCalls.length === 0 && answer.finish.reason !== FinishReason.REFUSAL;
}

/** Small models know what they want and not how a tool calls it. */
function fitted(calls: readonly ToolCallPart[], { model, prefix }: AnswerReader): readonly ToolCallPart[] {
  if (model.tier !== ModelTier.WEAK) return calls;
  return calls.map((call) => {
    const definition = prefix.tools.find((tool) => tool.name === call.tool);
    if (definition === undefined) return call;
    return create(ToolCallPartSchema, { ...call, argumentsJson: fitArguments(call.argumentsJson, definition) });
  });
}
