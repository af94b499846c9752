import { create } from "@bufbuild/protobuf";
import { CountTokensRequestSchema, type CountTokensRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { DoorPorts } from "./call-model.ts";
import type { DoorCaller } from "./call-record.ts";
import { estimateInput } from "./estimate-input.ts";
import { permittedModel } from "./permitted-model.ts";
import { recordedCall } from "./recorded-call.ts";

/** What a request would count as input: on record, and free. */
export async function countCallTokens(
  caller: DoorCaller,
  { model: name, messages, tools }: CountTokensRequest,
  ports: DoorPorts,
  gone: AbortSignal,
): Promise<{ readonly inputTokens: number; readonly isEstimated: boolean }> {
  return recordedCall(caller, name, ports, gone, async (_, signal) => {
    const model = await permittedModel(name, caller, ports.models, signal);
    const counted = await ports.models.countTokens(create(CountTokensRequestSchema, { model: model.id, messages, tools }), signal);
    return { inputTokens: counted ?? estimateInput(messages, tools), isEstimated: counted === undefined };
  });
}
