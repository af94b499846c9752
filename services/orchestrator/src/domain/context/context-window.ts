import { ErrorClass } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CompactionCause } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { TrustFloor } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { counter } from "@hlvm/telemetry/instrument";
import { Conversation, type FoldedEvent } from "../fold/conversation.ts";
import type { TakenFiles } from "../fold/file-part.ts";
import type { EventLog } from "../log/event-log.ts";
import { eventPayload } from "../log/event-payload.ts";
import { ModelFailure } from "../loop/model-failure.ts";
import type { RunContext } from "../loop/run-context.ts";
import type { RunProgress } from "../loop/run-progress.ts";
import type { AttachedFiles } from "../session/attached-files.ts";
import type { SessionFacts } from "../session/session.ts";
import { assembleContext, type AssembledContext } from "./assemble-context.ts";
import { compactionEvent, formerSummary } from "./compaction-event.ts";
import { planCompaction, unitsOf, type CompactionPlan } from "./plan-compaction.ts";
import { summarizeContext } from "./summarize-context.ts";
import { compactedSizes, type TokenBudget } from "./token-budget.ts";
import { isInDoubt, TokenCounter } from "./token-counter.ts";

/** Of the budget: a compaction that saves less is left until the context would not fit otherwise. */
const LEAST_SAVED_SHARE = 0.1;
/** After an overflow: the provider holds less than was thought, nobody knows how much. */
const OVERFLOW_MARGIN = 1.15;
const OVERFLOW_TAIL_SHARE = 0.25;

/** Where a context comes from. */
export interface ContextSources {
  readonly log: Pick<EventLog, "readContext">;
  readonly attached: AttachedFiles;
}

/** The model that a context is for. */
export type ReadingModel = TakenFiles & { readonly id: string };

const countCompaction = counter("hlvm.context.compactions", "Contexts that were compacted.", "{compaction}");

/**
 * What a run's model has before it, kept within its window. Compacting is a view: the log keeps everything, and says what was
 * folded, so that whoever folds it has the same context.
 */
export class ContextWindow {
  readonly #log: Pick<EventLog, "readContext">;
  readonly #attached: AttachedFiles;
  readonly #sessionId: string;
  readonly #model: ReadingModel;
  /** By their hashes. During a run none are added. */
  readonly #files = new Map<string, Uint8Array>();
  readonly budget: TokenBudget;
  readonly #counter = new TokenCounter();
  #conversation: Conversation;
  /** What the provider's refusals made of the estimate, until it counts again. */
  #overflowCorrection = 1;

  private constructor({ log, attached }: ContextSources, facts: Pick<SessionFacts, "sessionId">, model: ReadingModel, budget: TokenBudget) {
    this.#log = log;
    this.#attached = attached;
    this.#sessionId = facts.sessionId;
    this.#model = model;
    this.budget = budget;
    this.#conversation = new Conversation(model.id, model);
  }

  /**
   * The context of a session's log as it is now.
   * @param model that will read it
   * @param wholeLog of a new session all that its log holds, so that nobody has to read it
   */
  static async open(
    sources: ContextSources,
    session: Pick<SessionFacts, "sessionId">,
    model: ReadingModel,
    budget: TokenBudget,
    wholeLog?: readonly FoldedEvent[],
  ): Promise<ContextWindow> {
    const context = new ContextWindow(sources, session, model, budget);
    context.#conversation = await context.#fold(wholeLog);
    return context;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  /** The least that anything in the context can be trusted. */
  get floor(): TrustFloor | undefined {
    return this.#conversation.floor;
  }

  add(event: FoldedEvent): void {
    this.#conversation.add(event);
    if (event.payload.case === "turnStats" && event.payload.value.inputTokens > 0n) this.#overflowCorrection = 1;
  }

  /** Reads the bytes of files that came with what was added. */
  fillFiles(): Promise<void> {
    return this.#fill(this.#conversation);
  }

  /**
   * What the model is given in its next call, compacted before where it is too full. Where it may be, and may not, the provider
   * is asked to count it: neither is a context folded that has room, nor one sent that has none.
   * @throws ModelFailure of CONTEXT_OVERFLOW where it does not fit even so
   */
  async fit(run: RunContext, progress: RunProgress): Promise<AssembledContext> {
    let assembled = this.#assemble(run);
    if (isInDoubt(assembled, this.#conversation.countedEstimate, this.budget.threshold)) assembled = await this.#counted(run, assembled);
    if (assembled.tokens > this.budget.threshold) {
      await this.#compact(run, progress, assembled, CompactionCause.THRESHOLD);
      assembled = this.#assemble(run);
    }
    return this.#requireFitting(run, assembled);
  }

  /**
   * The same after the provider said that it cannot hold what it was given.
   * @throws ModelFailure where there is nothing left to shorten
   */
  async shrink(run: RunContext, progress: RunProgress, refused: AssembledContext, failure: ModelFailure): Promise<AssembledContext> {
    // What its count does not explain, its window does: it is smaller than was thought.
    const { tokens } = await this.#counted(run, refused);
    this.#overflowCorrection *= Math.max(1, (this.budget.limit / Math.max(1, tokens)) * OVERFLOW_MARGIN);
    await this.#compact(run, progress, this.#assemble(run), CompactionCause.OVERFLOW);
    const assembled = this.#assemble(run);
    if (assembled.estimate >= refused.estimate) throw failure;
    return this.#requireFitting(run, assembled);
  }

  /** The same context with the tokens that the provider counts; as it was where it does not count. */
  async #counted(run: RunContext, assembled: AssembledContext): Promise<AssembledContext> {
    const counted = await this.#counter.count(assembled, run);
    if (counted === undefined) return assembled;
    this.#conversation.learn(counted, assembled.estimate);
    return this.#assemble(run);
  }

  #assemble(run: Pick<RunContext, "prefix">, conversation = this.#conversation): AssembledContext {
    const assembled = assembleContext(run.prefix, conversation);
    return { ...assembled, tokens: Math.ceil(assembled.tokens * this.#overflowCorrection) };
  }

  async #compact(run: RunContext, progress: RunProgress, full: AssembledContext, cause: CompactionCause): Promise<void> {
    await run.journal.records.settle(run.signal);
    run.signal.throwIfAborted();
    const conversation = await this.#fold().catch((thrown: unknown) => {
      // While the log cannot be read a context that still fits is left as it is.
      if (full.tokens > this.budget.limit || cause === CompactionCause.OVERFLOW) throw thrown;
    });
    if (conversation === undefined) return;
    const correction = full.tokens / Math.max(1, full.estimate);
    conversation.correction = this.#conversation.correction;
    const limit = this.budget.limit / correction;
    const fixed = full.estimate - estimateOf(conversation);
    const sizes = compactedSizes({ ...this.budget, limit, threshold: this.budget.threshold / correction }, fixed);
    const isOverflow = cause === CompactionCause.OVERFLOW;
    const plan = planCompaction(conversation, isOverflow ? sizes.tail * OVERFLOW_TAIL_SHARE : sizes.tail);
    if (!isWorthIt(plan, full.tokens > this.budget.limit || isOverflow ? 1 : limit * LEAST_SAVED_SHARE)) return;
    const former = formerSummary(conversation);
    const summary =
      plan.folded.length === 0
        ? former
        : await summarizeContext({ units: plan.folded, formerSummary: former.text, tokens: sizes.summary, limit }, run);
    if (summary.call !== undefined) progress.addUsage(summary.call.usage);
    const compaction = compactionEvent(plan, summary, conversation, cause);
    conversation.add({ runId: run.runId, turn: progress.turn, payload: eventPayload("compaction", compaction) });
    compaction.tokensBefore = full.tokens;
    compaction.tokensAfter = this.#assemble(run, conversation).tokens;
    const entry = eventPayload("compaction", compaction);
    if (summary.call === undefined) await run.journal.append(progress.turn, entry);
    else await run.spending.settle(summary.call, progress.turn, run.journal, () => [entry]);
    this.#conversation = conversation;
    countCompaction(1, { cause: isOverflow ? "overflow" : "threshold" });
  }

  async #fold(wholeLog?: readonly FoldedEvent[]): Promise<Conversation> {
    const conversation = new Conversation(this.#model.id, this.#model);
    for (const event of wholeLog ?? (await this.#log.readContext(this.#sessionId))) conversation.add(event);
    await this.#fill(conversation);
    return conversation;
  }

  async #fill(conversation: Conversation): Promise<void> {
    const shown = conversation.files();
    const missing = shown.filter((sha256) => !this.#files.has(sha256));
    if (missing.length > 0) for (const [sha256, data] of await this.#attached.read(this.#sessionId, missing)) this.#files.set(sha256, data);
    if (shown.length > 0) conversation.fill(this.#files);
  }

  async #requireFitting(run: RunContext, estimated: AssembledContext): Promise<AssembledContext> {
    if (estimated.tokens <= this.budget.limit) return estimated;
    const assembled = await this.#counted(run, estimated);
    if (assembled.tokens <= this.budget.limit) return assembled;
    throw new ModelFailure({
      errorClass: ErrorClass.CONTEXT_OVERFLOW,
      message: `The task is too large for this model's context: about ${assembled.tokens} tokens are left after everything that could be folded was, and it has room for ${this.budget.limit}.`,
      advice: "Give it less at once, or take a model with a larger context window (--model).",
    });
  }
}

/** What can be folded or put aside. */
function estimateOf(conversation: Conversation): number {
  return unitsOf(conversation, conversation.compaction?.toSequence ?? 0n).reduce((sum, { tokens }) => sum + tokens, 0);
}

function isWorthIt({ folded, putAside }: CompactionPlan, least: number): boolean {
  const saved = folded.reduce((sum, { tokens }) => sum + tokens, 0) + putAside.reduce((sum, { length }) => sum + length / 4, 0);
  return saved >= least;
}
