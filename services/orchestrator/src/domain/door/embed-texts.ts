import { create } from "@bufbuild/protobuf";
import {
  CountTokensRequestSchema,
  EmbedRequestSchema,
  type CountTokensRequest,
  type EmbedRequest,
  type EmbedResponse,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { estimateTokens } from "../context/estimate-tokens.ts";
import { estimateInput, NO_ACCESS, type DoorPorts } from "./call-model.ts";
import { CallRecord, endedBy, type DoorCaller } from "./call-record.ts";
import { permittedModel } from "./permitted-model.ts";

/** Has texts made into vectors for a program: limited, settled and on record as a model call is. */
export async function embedTexts(
  caller: DoorCaller,
  { model: name, texts, dimensions }: EmbedRequest,
  ports: DoorPorts,
  gone: AbortSignal,
): Promise<{ readonly model: string; readonly response: EmbedResponse }> {
  return recorded(caller, name, ports, gone, async (record, signal) => {
    const model = await permittedModel(name, caller.provider, caller.delegation.modelAccess ?? NO_ACCESS, ports.models, signal);
    const call = await record.begin(
      model,
      texts.reduce((sum, text) => sum + estimateTokens(text), 0),
      0,
    );
    const response = await ports.models.embed(
      create(EmbedRequestSchema, { model: model.id, texts, dimensions }),
      AbortSignal.any([signal, call.signal]),
    );
    if (response.usage !== undefined) call.see({ case: "usage", value: response.usage });
    return { model: model.id, response };
  });
}

/** What a request would count as input: on record, and free. */
export async function countTokens(
  caller: DoorCaller,
  { model: name, messages, tools }: CountTokensRequest,
  ports: DoorPorts,
  gone: AbortSignal,
): Promise<{ readonly inputTokens: number; readonly isEstimated: boolean }> {
  return recorded(caller, name, ports, gone, async (_, signal) => {
    const model = await permittedModel(name, caller.provider, caller.delegation.modelAccess ?? NO_ACCESS, ports.models, signal);
    const counted = await ports.models.countTokens(create(CountTokensRequestSchema, { model: model.id, messages, tools }), signal);
    return { inputTokens: counted ?? estimateInput(messages, tools), isEstimated: counted === undefined };
  });
}

async function recorded<T>(
  caller: DoorCaller,
  name: string,
  ports: DoorPorts,
  gone: AbortSignal,
  call: (record: CallRecord, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const record = new CallRecord(caller, ports);
  try {
    const answer = await call(record, AbortSignal.any([gone, AbortSignal.timeout(ports.limits.modelMilliseconds)]));
    await record.end(name, undefined, gone.aborted);
    return answer;
  } catch (thrown) {
    const told = endedBy(thrown);
    await record.end(name, told, gone.aborted).catch((cause: unknown) => ports.log.error({ err: cause }, "a model call was not settled"));
    throw told;
  }
}
