import { cutDelta, isFitting } from "./answer-length.ts";
import { believableUsage } from "./believable-usage.ts";
import type { Delta, Finish, Told } from "./generation.ts";
import { ModelError } from "./model-error.ts";
import type { Target } from "./target.ts";

export interface Attempt {
  readonly target: Target;
  readonly deltas: AsyncIterable<Delta>;
  /** Called once something of an answer has come: from then on nothing is tried again. */
  readonly onContent: () => void;
}

/**
 * One answer of a provider, made sense of: which model answers first where it is another one, `usage` and `finish` last.
 * @throws ModelError `stream_cut`, `empty_answer`
 */
export async function* attemptOnce({ target, deltas, onContent }: Attempt): AsyncGenerator<Told, void> {
  const name = target.providerName;
  let usage: Delta | undefined;
  let finish: Finish | undefined;
  let hasContent = false;
  let hasToolCalls = false;
  for await (const delta of deltas) {
    if (delta.kind === "usage") usage = believableUsage(delta) && delta;
    else if (delta.kind === "finish") finish = delta;
    else {
      if (!hasContent) {
        hasContent = true;
        onContent();
        yield* servedBy(target);
      }
      hasToolCalls ||= delta.kind === "tool-call";
      if (isFitting(delta)) yield delta;
      else yield* cutDelta(name, delta);
    }
  }
  if (finish === undefined) throw cut(name);
  if (!hasContent) {
    if (finish.reason !== "refusal" && finish.reason !== "length") throw empty(name);
    yield* servedBy(target);
  }
  if (usage !== undefined) yield usage;
  yield { kind: "finish", reason: agreed(finish.reason, hasToolCalls), detail: finish.detail };
}

function* servedBy({ servedBy: told }: Target): Generator<Told, void> {
  if (told !== undefined) yield { kind: "served-by", ...told };
}

/** Servers differ in what they call the end of an answer that asks for tools. */
function agreed(reason: Finish["reason"], hasToolCalls: boolean): Finish["reason"] {
  if (reason !== "stop" && reason !== "tool-calls") return reason;
  return hasToolCalls ? "tool-calls" : "stop";
}

function cut(provider: string): ModelError {
  return new ModelError({
    class: "transient",
    reason: "stream_cut",
    message: `The answer of ${provider} broke off before its end.`,
    advice: "Ask again; what was shown so far is not the whole answer.",
    provider,
  });
}

function empty(provider: string): ModelError {
  return new ModelError({
    class: "transient",
    reason: "empty_answer",
    message: `${provider} ended its answer without a word.`,
    advice: "Ask again, in other words if it stays.",
    provider,
  });
}
