import { HlvmError } from "@hlvm/errors/hlvm-error";
import { redactSecrets } from "../redact-secrets.ts";
import type { Embedder } from "./embedder.ts";
import { actorTerms } from "./field-terms.ts";
import type { AskedCorpora } from "./item-search.ts";
import { quantize } from "./quantized-vector.ts";

/** Longer than a server beside this one takes; who searches waits for no other. */
const DEADLINE_MILLISECONDS = 300;
const MAXIMUM_CHARACTERS = 1_000;
const ASKING = /^(?:what|which|who|whom|whose|when|where|why|how|many|much|do|does|did)$/iu;

export interface AskedByMeaning {
  readonly asked: AskedCorpora;
  /** Why words alone were compared; empty where meanings were, or nothing makes vectors. */
  readonly notice: string;
}

/** Adds to what is asked what it means. Where that cannot be had in time, a search goes by the words alone. */
export async function withQuestionVector(
  embedder: Embedder | undefined,
  asked: AskedCorpora,
  text: string,
  signal = new AbortController().signal,
): Promise<AskedByMeaning> {
  const isEmpty = asked.question.terms.length + asked.question.actors.length === 0 || asked.items === 0;
  if (embedder === undefined || isEmpty) return { asked, notice: "" };
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MILLISECONDS)]);
    const [vector] = await embedder.embed([statementOf(redactSecrets(text), asked.question.actors)], within);
    return { asked: { ...asked, meaning: { model: embedder.model, vector: quantize(vector!) } }, notice: "" };
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof HlvmError) return { asked, notice: `${thrown.message} Words alone were compared. ${thrown.advice}`.trim() };
    throw thrown;
  }
}

/**
 * A question in the form of what answers it: without the words that ask, and in the first person where it names who said that. An encoder of
 * sentences takes a question to be near to other questions.
 * @param actors terms of those whom it names
 */
export function statementOf(question: string, actors: readonly string[]): string {
  const words = question
    .slice(0, MAXIMUM_CHARACTERS)
    .split(/\s+/u)
    .map((word) => word.replaceAll(/^[\s"'“‘(]+|[?!.,;:"'”’)]+$/gu, "").replace(/[’']s$/u, ""))
    .filter((word) => word !== "" && !ASKING.test(word))
    .map((word) => (isNamed(word, actors) ? "I" : word));
  return words.length === 0 ? question.slice(0, MAXIMUM_CHARACTERS) : `${words.join(" ")}.`;
}

function isNamed(word: string, actors: readonly string[]): boolean {
  const terms = actorTerms(word);
  return terms.length > 0 && terms.every((term) => actors.includes(term));
}
