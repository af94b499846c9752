import { create } from "@bufbuild/protobuf";
import { MessageSchema, Role, type Message, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Conversation } from "../fold/conversation.ts";
import type { Prefix } from "../prompt/compile-prefix.ts";
import { withMemory } from "../prompt/with-memory.ts";
import { estimatePart, estimateTools } from "./estimate-tokens.ts";
import { partText } from "./part-text.ts";
import type { Provenance } from "./provenance.ts";

/** A piece of what the model is given, and what is known of it. */
export interface Fragment {
  readonly provenance: Provenance;
  readonly text: string;
  /** Corrected by what the provider counted. */
  readonly tokens: number;
}

/** One request's context. */
export interface AssembledContext {
  readonly messages: readonly Message[];
  /** Corrected by what the provider counted. */
  readonly tokens: number;
  /** The same, uncorrected. */
  readonly estimate: number;
  /** Of the messages and the tool list, in the order in which the model gets them. */
  readonly fragments: () => readonly Fragment[];
}

const OWN = { trust: Trust.VERIFIED, kind: ContextKind.INSTRUCTION, sequence: 0n };
const toolTokens = new WeakMap<Prefix["modelTools"], number>();

/** All that the model is given in its next call: for the call itself, and for whoever wants to see it. */
export function assembleContext(prefix: Pick<Prefix, "systemPrompt" | "modelTools">, conversation: Conversation): AssembledContext {
  const system = create(MessageSchema, { role: Role.SYSTEM, parts: [{ part: { case: "text", value: prefix.systemPrompt } }] });
  const messages = [system, ...withMemory(conversation.messages(), conversation.memory)];
  const ofTools = tokensOfTools(prefix.modelTools);
  const estimate = messages.reduce((sum, { parts }) => sum + parts.reduce((all, part) => all + estimatePart(part), 0), ofTools);
  const corrected = (tokens: number): number => Math.ceil(tokens * conversation.correction);
  const fragments = (): Fragment[] => [
    ...system.parts.map((part) => ({ provenance: { ...OWN, source: "system prompt" }, ...fragmentOf(part, corrected) })),
    {
      provenance: { ...OWN, source: `${prefix.modelTools.length} tools` },
      text: prefix.modelTools.map(({ name }) => name).join(", "),
      tokens: corrected(ofTools),
    },
    ...messages
      .slice(1)
      .flatMap(({ parts }) => parts.map((part) => ({ provenance: conversation.provenanceOf(part), ...fragmentOf(part, corrected) }))),
  ];
  return { messages, tokens: corrected(estimate), estimate, fragments };
}

function tokensOfTools(tools: Prefix["modelTools"]): number {
  const known = toolTokens.get(tools) ?? estimateTools(tools);
  toolTokens.set(tools, known);
  return known;
}

function fragmentOf(part: Part, corrected: (tokens: number) => number): Pick<Fragment, "text" | "tokens"> {
  return { text: partText(part), tokens: corrected(estimatePart(part)) };
}
