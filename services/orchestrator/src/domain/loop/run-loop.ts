import { ErrorClass, FinishReason, type Finish } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ReminderKind, StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { durationHistogram } from "@hlvm/telemetry/instrument";
import { estimatePart } from "../context/estimate-tokens.ts";
import type { AnsweredTurn } from "../fold/run-past.ts";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import { resumeAdvice } from "../run/resume-advice.ts";
import { callTools } from "../tools/call-tools.ts";
import { tell } from "../tools/write-todo.ts";
import { announcesWork } from "../work/announces-work.ts";
import { continueReminder, dueReminder, type DueReminder } from "../work/due-reminder.ts";
import { phaseOf } from "../work/phase-of.ts";
import type { Answer } from "./answer.ts";
import { ModelFailure } from "./model-failure.ts";
import { recallMemory } from "./recall-memory.ts";
import type { RunContext } from "./run-context.ts";
import type { RunProgress } from "./run-progress.ts";
import type { Stop } from "./stop.ts";
import { takeTurn, type Taken } from "./take-turn.ts";

/** Answers that were lost with the connection to the gateway after some of them was shown. */
const MAXIMUM_LOST_IN_A_ROW = 3;
const recordTurn = durationHistogram("hlvm.turn.duration", "How long turns take: a model's answer and the tools that it calls.");

/**
 * The loop: ask the model, run the tools that it calls, and again, until it answers or a limit is reached.
 * @param answered of a run that was taken over: the last turn of which the log has the model's answer
 * @throws Interruption, ModelFailure or HlvmError where the run cannot go on
 */
export async function runLoop(question: string, run: RunContext, progress: RunProgress, answered?: AnsweredTurn): Promise<Stop> {
  const resumed = answered === undefined ? undefined : await resumeTurn(answered, inTurn(run));
  if (resumed !== undefined && (await mayStop(resumed, run))) return resumed;
  await Promise.all([recallMemory(question, run), run.instructions.begin(progress.turn, run)]);
  let lostInARow = 0;
  while (progress.turn - progress.lostTurns + progress.workerTurns < run.limits.turns) {
    run.signal.throwIfAborted();
    run.draining.throwIfAborted();
    progress.turn++;
    const { turn } = progress;
    const began = performance.now();
    await readMessages(turn, run);
    await remind(dueReminder(run.model.tier, turn, run.context.conversation.work), turn, run);
    const turnRun = inTurn(run);
    const taken = await askWithinWindow(turnRun, progress, lostInARow < MAXIMUM_LOST_IN_A_ROW).catch(async (thrown: unknown) => {
      if (isInterrupted(turnRun, run)) return "interrupted" as const;
      await run.journal.records.settle(run.signal);
      throw thrown;
    });
    if (taken === "interrupted") continue;
    if (taken === undefined) {
      lostInARow++;
      progress.lostTurns++;
      continue;
    }
    lostInARow = 0;
    const { message, toolCalls, answer, estimate, exhausted } = taken;
    run.context.add({ runId: run.runId, turn, payload: message });

    if (toolCalls.length === 0) run.outcomes.flush();
    const called = toolCalls.length === 0 ? undefined : await callTools(toolCalls, turn, turnRun);
    progress.toolCalls += toolCalls.length;
    for (const payload of called?.ends ?? []) {
      addEnd(payload, turn, run);
    }
    if (called !== undefined) await run.instructions.follow(toolCalls, turn, run);
    const { usage } = answer;
    const took = performance.now() - began;
    recordTurn(took);
    const stats = eventPayload("turnStats", {
      toolCount: toolCalls.length,
      durationMilliseconds: Math.round(took),
      inputTokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      outputTokens: usage.outputTokens,
      estimatedInputTokens: BigInt(estimate),
      phase: phaseOf(toolCalls, run.context.conversation.work.phase),
    });
    run.context.add({ runId: run.runId, turn, payload: stats });
    void run.journal.appendSoon(turn, stats, eventPayload("usageUpdate", { usage: progress.usage, cost: run.spending.cost }));
    if (run.signal.aborted) await run.journal.records.settle(run.signal);
    if (exhausted !== undefined) {
      await run.journal.records.settle(run.signal);
      throw exhausted;
    }
    if (called === undefined && isToGoOn(answer, run)) {
      await remind(continueReminder, turn, run);
      continue;
    }
    const stop = called === undefined ? stopOfAnswer(answer.finish, run) : stopOfLooping(called.isLooping);
    if (stop !== undefined && (await mayStop(stop, run))) {
      await run.journal.records.settle(run.signal);
      return stop;
    }
  }
  await run.journal.records.settle(run.signal);
  return {
    reason: StopReason.MAX_TURNS_REACHED,
    message: `The run used all of its ${run.limits.turns} turns before it was done.`,
    advice: `${resumeAdvice(run)} Or ask for less at a time.`,
  };
}

/** The run for one turn, which a message may interrupt. */
function inTurn(run: RunContext): RunContext {
  return {
    ...run,
    // Another one where a plan is accepted in this turn.
    get mesh() {
      return run.mesh;
    },
    signal: AbortSignal.any([run.signal, run.inbox.beginTurn()]),
  };
}

function isInterrupted(turnRun: RunContext, run: RunContext): boolean {
  return turnRun.signal.aborted && !run.signal.aborted;
}

/** What people said meanwhile is before the model in this turn. */
async function readMessages(turn: number, run: RunContext): Promise<void> {
  const messages = await run.inbox.take();
  // Of a run that was taken over, calls may have been interrupted before they came to waiting for their answers.
  if (messages.some(({ interrupts }) => interrupts))
    run.journal.records.add(run.mesh.policy.withdrawApprovals(run.runId).catch(() => undefined));
  for (const { sequence, author, text, attachments } of messages) {
    const payload = eventPayload("userMessage", { text, author, attachments: [...attachments], queuedSequence: sequence });
    run.context.add({ runId: run.runId, turn, payload });
    void run.journal.append(turn, payload);
  }
  if (messages.some(({ attachments }) => attachments.length > 0)) await run.context.fillFiles();
}

/** A run that is done goes on where somebody has said something meanwhile. */
async function mayStop({ reason }: Stop, run: RunContext): Promise<boolean> {
  return reason !== StopReason.COMPLETED || run.inbox.close();
}

/** Whether the model said what it will do, and stopped: it is asked to go on, once a run. */
function isToGoOn({ text, finish }: Pick<Answer, "text" | "finish">, { prefix, context }: RunContext): boolean {
  const mayGoOn = prefix.tools.length > 0 && finish.reason === FinishReason.STOP;
  return mayGoOn && !context.conversation.work.reminded.has(ReminderKind.CONTINUE) && announcesWork(text);
}

/** Tells the model something behind all that it has before it. */
async function remind(due: DueReminder | undefined, turn: number, run: RunContext): Promise<void> {
  if (due !== undefined) await tell([eventPayload("reminder", due)], turn, run);
}

/** One answer. What the provider cannot hold is shortened and sent once more. */
async function askWithinWindow(run: RunContext, progress: RunProgress, mayLose: boolean): Promise<Taken | undefined> {
  const context = await run.context.fit(run, progress);
  try {
    return await takeTurn(context, run, progress, mayLose);
  } catch (thrown) {
    run.signal.throwIfAborted();
    if (!(thrown instanceof ModelFailure) || thrown.errorClass !== ErrorClass.CONTEXT_OVERFLOW) throw thrown;
    return takeTurn(await run.context.shrink(run, progress, context, thrown), run, progress, mayLose);
  }
}

/** Puts what a call ended with before the model, and notes whose tokens of the next call's input those are. */
function addEnd(payload: EventPayload, turn: number, { context, spending, runId }: RunContext): void {
  context.add({ runId, turn, payload });
  if (payload.case !== "toolEnd") return;
  const part = context.conversation.resultOf(payload.value.callId);
  if (part !== undefined) spending.addResult(payload.value.tool, estimatePart(part));
}

/** Sees to the calls of a turn that have no result yet. @returns why the run ends, where it does */
async function resumeTurn(answered: AnsweredTurn, run: RunContext): Promise<Stop | undefined> {
  const { turn, toolCalls, finish, ends } = answered;
  if (finish === undefined && (await run.inbox.hasUnread())) return undefined;
  if (finish === undefined)
    return { reason: StopReason.ERROR, message: "The model's answer was cut off before its end.", advice: resumeAdvice(run) };
  if (toolCalls.length === 0) return stopOfAnswer(finish, run);
  const called = await callTools(toolCalls, turn, run, ends);
  for (const payload of called.ends) {
    addEnd(payload, turn, run);
  }
  return stopOfLooping(called.isLooping);
}

function stopOfAnswer(finish: Finish, run: RunContext): Stop {
  if (finish.reason === FinishReason.REFUSAL) {
    const words = finish.detail === "" ? "." : `: ${finish.detail}`;
    return {
      reason: StopReason.ERROR,
      message: `The model declined to answer${words}`,
      advice: "Ask in other words, or choose another model with --model.",
    };
  }
  if (finish.reason === FinishReason.LENGTH)
    return {
      reason: StopReason.COMPLETED,
      message: "The answer was cut at the model's output limit.",
      advice: resumeAdvice(run),
    };
  return { reason: StopReason.COMPLETED, message: "", advice: "" };
}

function stopOfLooping(isLooping: boolean): Stop | undefined {
  if (!isLooping) return undefined;
  return {
    reason: StopReason.ERROR,
    message: "The model kept making the same tool call, and was stopped.",
    advice: "Ask in other words, or choose another model with --model.",
  };
}
