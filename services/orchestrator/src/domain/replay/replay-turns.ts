import { create } from "@bufbuild/protobuf";
import { ErrorClass, ToolCallPartSchema, type ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { TurnReplayed_Agreement as Agreement, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { assembleContext, type AssembledContext } from "../context/assemble-context.ts";
import type { ModelCall } from "../budget/model-call.ts";
import { eventPayload } from "../log/event-payload.ts";
import { answeredCalls } from "../loop/answered-calls.ts";
import type { Answer } from "../loop/answer.ts";
import { askModel } from "../loop/ask-model.ts";
import { ModelFailure } from "../loop/model-failure.ts";
import type { RunContext } from "../loop/run-context.ts";
import type { RunProgress } from "../loop/run-progress.ts";
import { outputTokens } from "../loop/take-turn.ts";
import { compilePrefix, type Prefix } from "../prompt/compile-prefix.ts";
import type { AttachedFiles } from "../session/attached-files.ts";
import type { SessionFacts } from "../session/session.ts";
import { agreementOf } from "./agreement.ts";
import { recordedTurns, type RecordedTurn } from "./recorded-turns.ts";

/** Of what a model says besides its calls. */
const TEXT_LENGTH = 4_000;

export interface Recording {
  readonly sessionId: string;
  readonly events: readonly Event[];
  readonly attached: AttachedFiles;
  /** Whose prompt the model is given: where the recorded session worked. */
  readonly facts: SessionFacts;
}

/**
 * Gives the run's model, turn by turn, what the recorded one had before it, and writes down what it would have called beside what
 * was called. Nothing that it calls is decided on or run: the next turn is the recorded one's again.
 * @param done turns that the run has replayed already
 */
export async function replayTurns(recording: Recording, run: RunContext, progress: RunProgress, done: number): Promise<void> {
  let place = 0;
  for (const recorded of recordedTurns(recording.events, run.model)) {
    if (place++ < done) continue;
    run.signal.throwIfAborted();
    run.draining.throwIfAborted();
    progress.turn++;
    const shown = recorded.conversation.files();
    if (shown.length > 0) recorded.conversation.fill(await recording.attached.read(recording.sessionId, shown));
    await replayTurn(recorded, compilePrefix(recording.facts, run.model, recorded.agent), run, progress);
  }
}

async function replayTurn(recorded: RecordedTurn, prefix: Prefix, run: RunContext, progress: RunProgress): Promise<void> {
  const { turn } = progress;
  const { event, message, conversation, agent } = recorded;
  const context = assembleContext(prefix, conversation);
  const about = { sequence: event.sequence, runId: event.runId, turn: event.turn, recorded: message.toolCalls };
  const left = (failure: string): Promise<void> => run.journal.append(turn, eventPayload("turnReplayed", { ...about, failure }));
  const { limit } = run.context.budget;
  if (context.tokens > limit) return left(`Its context has about ${context.tokens} tokens; this model takes ${limit}.`);
  const call = await run.spending.begin(context.tokens, outputTokens(context, { context: run.context, agent: agent.profile }), run.signal);
  try {
    const answer = await ask(context, prefix, agent.profile.temperature, call, run);
    const { text, toolCalls } = answeredCalls(answer, { model: run.model, prefix, conversation, secrets: run.secrets });
    const proposed = toolCalls.map((one) => redacted(one, run));
    progress.addUsage(call.usage);
    const replayed = {
      ...about,
      proposed,
      text: text.slice(0, TEXT_LENGTH).toWellFormed(),
      agreement: agreementOf(message.toolCalls, proposed),
    };
    await run.spending.settle(call, turn, run.journal, () => [eventPayload("turnReplayed", replayed), spent(run, progress)]);
  } catch (thrown) {
    progress.addUsage(call.usage);
    const isTooLong = thrown instanceof ModelFailure && thrown.errorClass === ErrorClass.CONTEXT_OVERFLOW && !run.signal.aborted;
    const failure = { ...about, failure: isTooLong ? thrown.message : "", agreement: Agreement.UNSPECIFIED };
    const entries = [...(isTooLong ? [eventPayload("turnReplayed", failure)] : []), spent(run, progress)];
    await run.spending.settle(call, turn, run.journal, () => entries);
    if (!isTooLong) throw thrown;
  }
}

function ask(
  context: AssembledContext,
  prefix: Prefix,
  temperature: number | undefined,
  call: ModelCall,
  run: RunContext,
): Promise<Answer> {
  return askModel({
    models: run.mesh.models,
    request: {
      model: run.model.id,
      messages: context.messages,
      tools: prefix.modelTools,
      maximumOutputTokens: call.outputTokens,
      temperature,
      sessionId: run.sessionId,
      runId: run.runId,
    },
    limits: run.limits,
    signal: AbortSignal.any([run.signal, call.signal]),
    onEvent: (event) => call.see(event),
    onAttempt: () => undefined,
  });
}

function redacted(call: ToolCallPart, { secrets }: RunContext): ToolCallPart {
  return create(ToolCallPartSchema, {
    ...call,
    tool: secrets.redact(call.tool),
    argumentsJson: secrets.redactArguments(call.argumentsJson),
  });
}

function spent({ spending }: RunContext, { usage }: RunProgress): ReturnType<typeof eventPayload> {
  return eventPayload("usageUpdate", { usage, cost: spending.cost });
}
