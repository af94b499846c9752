import { create } from "@bufbuild/protobuf";
import { FinishReason, ToolCallPartSchema, type ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { TokenBudget } from "../context/token-budget.ts";
import type { AssembledContext } from "../context/assemble-context.ts";
import type { BudgetExhausted } from "../budget/budget-exhausted.ts";
import type { ModelCall } from "../budget/model-call.ts";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import { isHandOver } from "../run/interruption.ts";
import { callId } from "../tools/call-id.ts";
import { Answer } from "./answer.ts";
import { answeredCalls } from "./answered-calls.ts";
import { askModel } from "./ask-model.ts";
import { ModelFailure } from "./model-failure.ts";
import type { RunContext } from "./run-context.ts";
import type { RunProgress } from "./run-progress.ts";

/** Room for a whole file in one call where the window has it; else what is kept free for an answer. */
const LARGE_OUTPUT_TOKENS = 16_384;
const LARGE_WINDOW_TOKENS = 64_000;
/** What is asked for and what the context takes must fit together, although the latter is an estimate. */
const ESTIMATE_MARGIN = 1.25;
/** A call without a tool's name could not be told back to the model. */
const UNNAMED_TOOL = "unnamed";

export interface Taken {
  readonly message: EventPayload;
  /** As the model made them. */
  readonly toolCalls: readonly ToolCallPart[];
  readonly answer: Answer;
  /** What the input was estimated at, uncorrected. */
  readonly estimate: number;
  /** The budget that kept the answer from being longer, where it was cut. */
  readonly exhausted?: BudgetExhausted;
}

/**
 * Asks the model once, shows its answer while it comes, and gives it to the log whole, with every call that it makes. What is
 * shown of a call's arguments is redacted; the calls themselves, which are granted and run, keep their bytes.
 * @param mayLose whether the model is asked again where its answer was lost on the way
 * @returns undefined where it was
 */
export async function takeTurn(
  context: AssembledContext,
  run: RunContext,
  progress: RunProgress,
  mayLose: boolean,
): Promise<Taken | undefined> {
  const { turn } = progress;
  const { journal, model } = run;
  let answer = new Answer();
  const call = await run.spending.begin(context.tokens, outputTokens(context, run), run.signal).catch((cause: unknown) => {
    // The turn was not taken.
    progress.turn--;
    throw cause;
  });
  const { modelTools: tools } = run.prefix;
  const sent = run.spending.prefixes.send(context.messages, tools);
  call.follow((usage, at, served) => run.spending.prefixes.settle(sent, usage, at, served));
  journal.appendDelta(turn, eventPayload("thinking", {}));
  try {
    await askModel({
      models: run.mesh.models,
      request: {
        model: model.id,
        route: model.route,
        fallbackNeeds: call.fallbackNeeds,
        messages: context.messages,
        tools,
        maximumOutputTokens: call.outputTokens,
        temperature: run.agent.temperature,
        sessionId: run.sessionId,
        runId: run.runId,
      },
      limits: run.limits,
      signal: AbortSignal.any([run.signal, call.signal]),
      onAttempt: (attempt) => void (answer = attempt),
      onEvent: (event) => {
        call.see(event);
        if (event.case === "textDelta") journal.appendDelta(turn, eventPayload("messageDelta", { text: event.value }));
        if (event.case === "thinkingDelta") journal.appendDelta(turn, eventPayload("reasoningUpdate", { text: event.value }));
      },
    });
  } catch (thrown) {
    progress.addUsage(call.usage);
    const isLost = mayLose && !run.signal.aborted && thrown instanceof ModelFailure && thrown.isConnectionLost && answer.isShown;
    const keeps = !isLost && !isHandOver(run.signal.reason) && answer.text !== "";
    if (keeps) {
      progress.text = answer.text;
      run.context.add({ runId: run.runId, turn, payload: eventPayload("assistantMessage", { text: answer.text }) });
    }
    void run.spending.settle(call, turn, journal, () => [keeps ? partOf(answer, run, progress) : spentSoFar(run, progress)]);
    if (isLost) return undefined;
    throw thrown;
  }
  progress.addUsage(call.usage);
  return { ...give(answer, call, run, progress), estimate: context.estimate };
}

/** How long the answer to a context may be. */
export function outputTokens(
  { tokens }: Pick<AssembledContext, "tokens">,
  { context: { budget }, agent }: { readonly context: Pick<RunContext["context"], "budget">; readonly agent: RunContext["agent"] },
): number {
  const most = agent.maximumOutputTokens || Number.POSITIVE_INFINITY;
  if (budget.window < LARGE_WINDOW_TOKENS) return Math.min(most, budget.reserve);
  return Math.min(most, roomFor(tokens, budget));
}

function roomFor(tokens: number, budget: TokenBudget): number {
  return Math.max(budget.reserve, Math.min(LARGE_OUTPUT_TOKENS, Math.floor(budget.window - tokens * ESTIMATE_MARGIN)));
}

/** What was shown of an answer that was cut stays in the conversation; its calls do not, since none of them ran. */
function partOf(answer: Answer, { spending }: RunContext, { usage }: RunProgress): EventPayload {
  return eventPayload("assistantMessage", { text: answer.text, ...cameBy(answer), runUsage: usage, runCost: spending.cost });
}

function spentSoFar({ spending }: RunContext, { usage }: RunProgress): EventPayload {
  return eventPayload("usageUpdate", { usage, cost: spending.cost });
}

function give(answer: Answer, call: ModelCall, run: RunContext, progress: RunProgress): Omit<Taken, "estimate"> {
  const { turn } = progress;
  const { model, prefix, secrets, context } = run;
  const { text, toolCalls: found } = answeredCalls(answer, { model, prefix, secrets, conversation: context.conversation });
  const toolCalls = withOwnIds(found, run, turn);
  const shown = toolCalls.map((call) => withoutSecrets(call, secrets));
  const said = { text, thinking: answer.thinking, toolCalls: shown, finish: answer.finish, ...cameBy(answer), runUsage: progress.usage };
  let message = eventPayload("assistantMessage", said);
  const selected = shown.map(({ tool, argumentsJson }, index) =>
    eventPayload("toolSelected", {
      callId: callId(run.runId, turn, index + 1),
      tool,
      argumentsJson,
      toolIndex: index + 1,
      toolTotal: toolCalls.length,
    }),
  );
  progress.text = text;
  void run.spending.settle(call, turn, run.journal, () => {
    message = eventPayload("assistantMessage", { ...said, runCost: run.spending.cost });
    return [message, ...selected];
  });
  return { message, toolCalls, answer, exhausted: answer.finish.reason === FinishReason.LENGTH ? call.exhausted() : undefined };
}

function cameBy({ servedBy: served, resumed }: Answer): { servedBy?: string; servedWhy?: string; resumed: number } {
  return served?.model === undefined ? { resumed } : { resumed, servedBy: served.model.id, servedWhy: served.why };
}

/** What came with a call does not fit other arguments. */
function withoutSecrets(call: ToolCallPart, secrets: RunContext["secrets"]): ToolCallPart {
  const argumentsJson = secrets.redactArguments(call.argumentsJson);
  const isSame = argumentsJson === call.argumentsJson;
  return create(ToolCallPartSchema, { ...call, argumentsJson, ...(isSame ? {} : { providerData: new Uint8Array() }) });
}

/** Results are matched by the provider's ids: where it gave none, or one twice, the call's own name takes its place. */
function withOwnIds(parts: readonly ToolCallPart[], { runId, secrets }: RunContext, turn: number): ToolCallPart[] {
  const seen = new Set<string>();
  return parts.map((part, index) => {
    const id = part.id === "" || seen.has(part.id) ? callId(runId, turn, index + 1) : part.id;
    seen.add(id);
    return create(ToolCallPartSchema, { ...part, id, tool: secrets.redact(part.tool) || UNNAMED_TOOL });
  });
}
