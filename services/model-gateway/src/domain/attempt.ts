import { answerTooLong, beginningOf, isFitting } from "./answer-length.ts";
import { believableUsage } from "./believable-usage.ts";
import type { Delta, Finish, AnswerEvent } from "./generation.ts";
import { ModelError } from "./model-error.ts";
import type { Target } from "./target.ts";

/** One answer of a provider, made sense of: which model answers first where it is another one, `usage` and `finish` last. */
export class Attempt {
  readonly #target: Target;
  readonly #deltas: AsyncIterator<Delta, void>;
  readonly #onContent: () => void;
  #usage: Delta | undefined;
  #finish: Finish | undefined;
  #hasContent = false;
  #hasToolCalls = false;
  #tooLong: ModelError | undefined;
  #isOver = false;

  /** @param onContent called once something of an answer has come: from then on nothing is tried again */
  constructor(target: Target, deltas: AsyncIterable<Delta>, onContent: () => void = () => undefined) {
    this.#target = target;
    this.#deltas = deltas[Symbol.asyncIterator]();
    this.#onContent = onContent;
  }

  /** What comes next; undefined behind the end. @throws ModelError `stream_cut`, `empty_answer`, `answer_too_long` */
  next(): Promise<readonly AnswerEvent[] | undefined> {
    if (this.#tooLong !== undefined) return Promise.reject(this.#tooLong);
    return this.#isOver ? Promise.resolve(undefined) : this.#deltas.next().then(this.#come);
  }

  async close(): Promise<void> {
    await this.#deltas.return?.();
  }

  readonly #come = (come: IteratorResult<Delta, void>): readonly AnswerEvent[] | Promise<readonly AnswerEvent[] | undefined> => {
    const events = come.done ? this.#end() : this.#take(come.value);
    return events.length > 0 ? events : this.next();
  };

  #take(delta: Delta): AnswerEvent[] {
    if (delta.kind === "usage") this.#usage = believableUsage(delta) && delta;
    else if (delta.kind === "finish") this.#finish = delta;
    else return this.#takeContent(delta);
    return [];
  }

  #takeContent(delta: Delta): AnswerEvent[] {
    const before = this.#hasContent ? [] : servedBy(this.#target);
    if (!this.#hasContent) this.#onContent();
    this.#hasContent = true;
    this.#hasToolCalls ||= delta.kind === "tool-call";
    if (isFitting(delta)) return [...before, delta];
    this.#tooLong = answerTooLong(this.#target.providerName);
    return [...before, ...beginningOf(delta)];
  }

  #end(): AnswerEvent[] {
    const name = this.#target.providerName;
    const finish = this.#finish;
    if (finish === undefined) throw cut(name);
    if (!this.#hasContent && finish.reason !== "refusal" && finish.reason !== "length") throw empty(name);
    this.#isOver = true;
    const before = this.#hasContent ? [] : servedBy(this.#target);
    const usage = this.#usage === undefined ? [] : [this.#usage];
    return [...before, ...usage, { kind: "finish", reason: agreed(finish.reason, this.#hasToolCalls), detail: finish.detail }];
  }
}

function servedBy({ servedBy: other }: Target): AnswerEvent[] {
  return other === undefined ? [] : [{ kind: "served-by", ...other }];
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
