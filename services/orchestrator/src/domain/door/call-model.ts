import { clone } from "@bufbuild/protobuf";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { GenerateRequestSchema, type GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callerNames } from "../loop/caller-names.ts";
import { tokenBudget, type ContextLimits } from "../context/token-budget.ts";
import type { ModelEvent } from "../loop/ports.ts";
import { CallRecord, endedBy, type DoorCaller, type RecordPorts } from "./call-record.ts";
import type { DoorModels } from "./door-models.ts";
import { estimateInput } from "./estimate-input.ts";
import { permittedModel } from "./permitted-model.ts";

/** A program's model is not asked longer than a run's. */
export interface DoorPorts extends RecordPorts {
  readonly models: DoorModels;
  readonly limits: ContextLimits & { readonly modelMilliseconds: number };
}

export type DoorEvent = ModelEvent | { readonly case: "started"; readonly model: string; readonly inputTokens: number };

/**
 * Calls a model for a program. The answer's end comes once the call is settled and on record; where the program goes away, or
 * the call fails, what was seen of it is settled.
 * @throws HlvmError `model_not_permitted`, `budget_exhausted`, `price_unknown`, and what the gateway says
 */
export async function* callModel(
  caller: DoorCaller,
  asked: GenerateRequest,
  ports: DoorPorts,
  gone: AbortSignal,
): AsyncGenerator<DoorEvent, void> {
  const record = new CallRecord(caller, ports);
  const end = (thrown: unknown, isGone = gone.aborted): Promise<void> => record.end(asked.model, thrown, isGone);
  const leave = (): void =>
    void end(undefined, true).catch((cause: unknown) => ports.log.error({ err: cause }, "a model call was not settled"));
  // Nobody may be there any more to go on with this generator.
  gone.addEventListener("abort", leave, { once: true });
  try {
    const { principal } = caller.delegation;
    const { models, limits } = ports;
    const timed = AbortSignal.any([gone, AbortSignal.timeout(limits.modelMilliseconds)]);
    const model = await permittedModel(asked.model, caller, models, timed);
    const inputTokens = estimateInput(asked.messages, asked.tools);
    const wished = asked.maxOutputTokens || tokenBudget(model.contextWindow, limits).reserve;
    const call = await record.begin(model, inputTokens, wished);
    yield { case: "started", model: model.id, inputTokens };
    // A token may be for this model alone: no other one of a route answers in its place.
    const only = { model: model.id, route: "", maxOutputTokens: call.outputTokens };
    const request = { ...clone(GenerateRequestSchema, asked), ...callerNames(principal), sessionId: "", runId: "", ...only };
    let finish: ModelEvent | undefined;
    for await (const event of models.generate(request, AbortSignal.any([timed, call.signal]))) {
      if (event.case === "finish") finish = event;
      else {
        call.see(event);
        yield event;
      }
    }
    if (finish === undefined) throw cut();
    await end(undefined);
    yield finish;
  } catch (thrown) {
    const error = endedBy(thrown);
    await end(error).catch((cause: unknown) => ports.log.error({ err: cause }, "a model call was not settled"));
    throw error;
  } finally {
    gone.removeEventListener("abort", leave);
    // A caller that leaves the loop is gone too.
    await end(undefined, true).catch(() => undefined);
  }
}

function cut(): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "stream_cut",
    message: "The model's answer was cut off before its end.",
    advice: "Ask again; if it happens often, check the connection to the provider.",
  });
}
