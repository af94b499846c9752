import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ErrorClass } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { BudgetExhausted } from "../budget/budget-exhausted.ts";
import type { SessionFacts } from "../session/session.ts";
import { Interruption } from "../run/interruption.ts";
import { resumeAdvice } from "../run/resume-advice.ts";
import { ModelFailure } from "./model-failure.ts";

/** Why a run ended. */
export interface Stop {
  readonly reason: StopReason;
  /** What happened, for a person; empty for a plain end. */
  readonly message: string;
  readonly advice: string;
  /** The budget that was used up. */
  readonly exhausted?: Budget;
}

const MODEL_REASONS: Partial<Record<ErrorClass, StopReason>> = {
  [ErrorClass.TIMEOUT]: StopReason.TIMEOUT,
  [ErrorClass.CONTEXT_OVERFLOW]: StopReason.CONTEXT_EXHAUSTED,
};

/** The end that an error means; a person can go on from what the log holds, unless the session keeps nothing. */
export function stopOf(thrown: unknown, session: Pick<SessionFacts, "sessionId" | "stateless">): Stop {
  const resume = resumeAdvice(session);
  if (thrown instanceof Interruption) return { ...stopOfInterruption(thrown), advice: resume };
  if (thrown instanceof BudgetExhausted) {
    const { message, advice, budget } = thrown;
    return { reason: StopReason.MAX_BUDGET_REACHED, message, advice: `${advice} ${resume}`, exhausted: budget };
  }
  if (thrown instanceof ModelFailure) {
    const advice = thrown.errorClass === ErrorClass.TIMEOUT ? `${thrown.advice} ${resume}`.trim() : thrown.advice || resume;
    return { reason: MODEL_REASONS[thrown.errorClass] ?? StopReason.ERROR, message: thrown.message, advice };
  }
  if (thrown instanceof HlvmError) return { reason: StopReason.ERROR, message: thrown.message, advice: thrown.advice || resume };
  return { reason: StopReason.ERROR, message: "Something went wrong inside the orchestrator; its log says what.", advice: resume };
}

function stopOfInterruption({ kind }: Interruption): Omit<Stop, "advice"> {
  switch (kind) {
    case "cancelled":
      return { reason: StopReason.USER_CANCELLED, message: "The run was cancelled." };
    case "timeout":
      return { reason: StopReason.TIMEOUT, message: "The run took longer than a run may." };
    default:
      return { reason: StopReason.ERROR, message: "The run was handed over." };
  }
}
