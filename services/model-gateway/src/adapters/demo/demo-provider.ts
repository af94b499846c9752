import type { Delta, Generation } from "../../domain/generation.ts";
import type { ModelDescription } from "../../domain/model.ts";
import type { Provider } from "../../domain/provider.ts";
import { estimateUsage } from "../estimate-usage.ts";
import { textDeltas } from "../text-deltas.ts";
import { decideTurn } from "./decide-turn.ts";
import { readSituation } from "./situation.ts";

const MODEL: ModelDescription = { name: "rules", tier: "mid", capability: "agent", contextWindow: 128_000 };

const CONFESSION =
  "\n\nThis is the demo model: fixed rules that call the real tools and quote what they return. It does not reason. " +
  "For a real model set ANTHROPIC_API_KEY, OPENAI_API_KEY or HLVM_LLAMA_URLS, or name one with --model provider/name.";

/** Takes the place of a model where none is set up: fixed rules over the question, and it says so in every answer. */
export class DemoProvider implements Provider {
  list(): Promise<readonly ModelDescription[]> {
    return Promise.resolve([MODEL]);
  }

  describe(name: string): Promise<ModelDescription | undefined> {
    return Promise.resolve(name === MODEL.name ? MODEL : undefined);
  }

  async *generate(generation: Generation): AsyncGenerator<Delta, void> {
    const situation = readSituation(generation);
    const turn = decideTurn(situation);
    const isAnswer = turn.calls.length === 0;
    const text = isAnswer ? `${turn.text}${CONFESSION}` : turn.text;
    yield* textDeltas(text);
    for (const [index, { tool, ...call }] of turn.calls.entries())
      yield { kind: "tool-call", id: `demo_${generation.messages.length}_${index}`, tool, argumentsJson: JSON.stringify(call.arguments) };
    yield { kind: "usage", ...estimateUsage(generation, text) };
    yield { kind: "finish", reason: isAnswer ? "stop" : "tool-calls", detail: "" };
  }
}
