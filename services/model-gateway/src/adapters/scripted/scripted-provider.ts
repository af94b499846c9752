import { setTimeout as sleep } from "node:timers/promises";
import { latestQuestion, type Delta, type Generation, type Message } from "../../domain/generation.ts";
import type { ModelDescription } from "../../domain/model.ts";
import { ModelError } from "../../domain/model-error.ts";
import type { Provider } from "../../domain/provider.ts";
import { estimateUsage } from "../estimate-usage.ts";
import { textDeltas } from "../text-deltas.ts";
import type { Script, ScriptedTurn } from "./script.ts";

const NAME = "scripted";
const MODEL: ModelDescription = { name: "script", tier: "frontier", capability: "agent", contextWindow: 128_000 };
const CONFESSION = "\n\n(Played from a script; no model was asked.)";

/** Plays a given script, and says so in every answer. */
export class ScriptedProvider implements Provider {
  readonly #script: Script;
  readonly #model: ModelDescription;

  constructor(script: Script) {
    this.#script = script;
    const { contextWindow = MODEL.contextWindow, takesImages = false, takesDocuments = false } = script;
    this.#model = { ...MODEL, contextWindow, takesImages, takesDocuments };
  }

  list(): Promise<readonly ModelDescription[]> {
    return Promise.resolve([this.#model]);
  }

  describe(name: string): Promise<ModelDescription | undefined> {
    return Promise.resolve(name === MODEL.name ? this.#model : undefined);
  }

  async *generate(generation: Generation, signal: AbortSignal): AsyncGenerator<Delta, void> {
    this.#requireFitting(generation);
    const { turn, id } = this.#turnFor(generation.messages);
    await sleep(turn.delayMilliseconds ?? 0, undefined, { signal });
    for (const delta of play(generation, turn, id)) {
      yield delta;
      if (delta.kind === "text" && turn.pieceMilliseconds !== undefined) await sleep(turn.pieceMilliseconds, undefined, { signal });
    }
  }

  #turnFor(messages: readonly Message[]): { turn: ScriptedTurn; id: string } {
    const { question, since } = latestQuestion(messages);
    const index = turnsPlayed(since);
    const conversation = this.#script.conversations.find((each) => question.includes(each.match));
    const turn = conversation?.turns[index];
    if (turn === undefined) throw silent(question, index);
    return { turn, id: `script_${messages.length - since.length}_${index}` };
  }

  #requireFitting(generation: Generation): void {
    const { input } = estimateUsage(generation, "");
    const { contextWindow } = this.#model;
    if (input + generation.maximumOutputTokens <= contextWindow) return;
    throw new ModelError({
      class: "context_overflow",
      reason: "context_overflow",
      message: `${NAME} cannot hold this much context: ${input} tokens and ${generation.maximumOutputTokens} for the answer, of ${contextWindow}.`,
      advice: "Give it less at once, or a larger contextWindow in the script.",
      provider: NAME,
    });
  }
}

/** The calls' ids tell which turn the last one was: of a conversation that was shortened since, the answers are fewer. */
function turnsPlayed(since: readonly Message[]): number {
  const answers = since.filter((message) => message.role === "assistant");
  const ids = answers.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === "tool-call" ? [part.id] : [])));
  const last = /^script_\d+_(\d+)_\d+$/.exec(ids.at(-1) ?? "")?.[1];
  return last === undefined ? answers.length : Math.max(answers.length, Number(last) + 1);
}

function* play(generation: Generation, turn: ScriptedTurn, id: string): Generator<Delta> {
  const calls = turn.toolCalls ?? [];
  const isAnswer = calls.length === 0 && turn.error === undefined && turn.cut !== true;
  const text = `${turn.text ?? ""}${isAnswer ? CONFESSION : ""}`;
  if (turn.thinking !== undefined) {
    yield { kind: "thinking-delta", text: turn.thinking };
    yield { kind: "thinking", text: turn.thinking, providerData: new Uint8Array() };
  }
  yield* textDeltas(text);
  if (turn.error !== undefined)
    throw new ModelError({
      class: turn.error.class,
      reason: "scripted_error",
      message: turn.error.message ?? `The script says that the model fails here (${turn.error.class}).`,
      advice: "This failure was played from a script.",
      provider: NAME,
    });
  if (turn.cut === true) return;
  for (const [index, call] of calls.entries()) {
    const argumentsJson = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
    yield { kind: "tool-call", id: `${id}_${index}`, tool: call.tool, argumentsJson };
  }
  yield { kind: "usage", ...estimateUsage(generation, text) };
  if (turn.refusal !== undefined) yield { kind: "finish", reason: "refusal", detail: turn.refusal };
  else yield { kind: "finish", reason: calls.length > 0 ? "tool-calls" : "stop", detail: "" };
}

function silent(question: string, index: number): ModelError {
  return new ModelError({
    class: "permanent",
    reason: "script_has_no_turn",
    message: `The script has no turn ${index + 1} for "${question.slice(0, 100)}".`,
    advice: "Add it to the file that HLVM_SCRIPT_FILE names, or take another model with --model.",
    provider: NAME,
  });
}
