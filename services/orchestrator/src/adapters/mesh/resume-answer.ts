import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallLimits } from "@hlvm/call-stream/open-stream";
import {
  ModelErrorSchema,
  ResumeRequestSchema,
  type GenerateRequest,
  type GenerateResponse,
  type ResumeRequest,
  type StreamCallsResponse,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { meshError } from "./mesh-error.ts";
import type { ModelCalls } from "./model-calls.ts";

/** Between two attempts to come back: the gateway may be starting, or the next one has the answer. */
const PAUSE_MILLISECONDS = 100;

export interface ResumedCall {
  /** What it is asked for on, with others or alone. */
  readonly calls: Pick<ModelCalls, "call">;
  /** A stream of its own, which comes to the next gateway where there are several. */
  readonly openAnother: () => ModelCalls;
  readonly limits: () => CallLimits;
  readonly signal: AbortSignal;
}

/**
 * One answer of a model, whose caller comes back to it where the connection is lost: nothing of it twice, and nothing left out.
 * @throws ConnectError what the answer failed with; where no gateway has it any more, `unavailable`, how the connection was lost and why
 */
export async function* resumeAnswer(value: GenerateRequest, call: ResumedCall): AsyncGenerator<GenerateResponse, void> {
  const reading = new Reading();
  let lost: unknown;
  for (;;) {
    try {
      const asked = lost === undefined ? call.calls.call({ case: "generate", value }, call.limits(), isFinish) : comeBack(reading, call);
      yield* reading.responses(asked);
      return;
    } catch (thrown) {
      if (call.signal.aborted) throw thrown;
      if (!reading.mayResume || !isLost(thrown)) throw isGone(thrown) ? notResumed(lost, ConnectError.from(thrown).rawMessage) : thrown;
      if (reading.isConnected) {
        lost = thrown;
        reading.lose();
      } else if (reading.remainingMilliseconds === 0) throw notResumed(lost, "No gateway had the answer in the time for which it is kept.");
    }
    await sleep(PAUSE_MILLISECONDS * (0.5 + Math.random()), undefined, { signal: call.signal });
  }
}

/** What has come of an answer. */
class Reading {
  isConnected = true;
  #token = "";
  #milliseconds = 0;
  #sequence = 0n;
  #digest = 0;
  #until = 0;

  get mayResume(): boolean {
    return this.#token !== "";
  }

  /** Until the gateway ends the answer. */
  get remainingMilliseconds(): number {
    return Math.max(0, this.#until - performance.now());
  }

  get request(): ResumeRequest {
    return create(ResumeRequestSchema, { resumeToken: this.#token, afterSequence: this.#sequence, digest: this.#digest });
  }

  lose(): void {
    this.isConnected = false;
    this.#until = performance.now() + this.#milliseconds;
  }

  async *responses(coming: AsyncIterable<StreamCallsResponse["response"]>): AsyncGenerator<GenerateResponse, void> {
    for await (const response of coming) {
      if (response.case !== "generate") continue;
      const { value } = response;
      this.isConnected = true;
      if (value.resumeToken !== "") {
        this.#token = value.resumeToken;
        this.#milliseconds = value.resumeSeconds * 1_000;
      }
      if (value.sequence !== 0n) {
        this.#sequence = value.sequence;
        this.#digest = value.digest;
      }
      yield value;
    }
  }
}

/** An attempt that finds nobody ends with the time in which the answer is kept; one that has found the answer does not. */
async function* comeBack(reading: Reading, call: ResumedCall): AsyncGenerator<StreamCallsResponse["response"], void> {
  const tooLate = new AbortController();
  const timer = setTimeout(() => tooLate.abort(), reading.remainingMilliseconds);
  try {
    const limits = { ...call.limits(), signal: AbortSignal.any([call.signal, tooLate.signal]) };
    for await (const response of call.openAnother().call({ case: "resume", value: reading.request }, limits, isFinish)) {
      clearTimeout(timer);
      yield response;
    }
  } finally {
    clearTimeout(timer);
  }
}

function isFinish(response: StreamCallsResponse["response"]): boolean {
  return response.case === "generate" && response.value.event.case === "finish";
}

function notResumed(lost: unknown, why: string): ConnectError {
  return new ConnectError(`${ConnectError.from(lost).rawMessage}. ${why}`, Code.Unavailable, undefined, undefined, lost);
}

/** The way to the gateway failed, and not the model. */
export function isLost(thrown: unknown): boolean {
  return meshError(thrown).code === "unavailable" && ConnectError.from(thrown).findDetails(ModelErrorSchema).length === 0;
}

/** The gateway is there, and the answer is not. */
function isGone(thrown: unknown): boolean {
  return meshError(thrown).reason === "resume_not_possible";
}
