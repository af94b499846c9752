import { create } from "@bufbuild/protobuf";
import { EmbedRequestSchema, type EmbedRequest, type EmbedResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { estimateTokens } from "../context/estimate-tokens.ts";
import type { DoorPorts } from "./call-model.ts";
import type { DoorCaller } from "./call-record.ts";
import { permittedModel } from "./permitted-model.ts";
import { recordedCall } from "./recorded-call.ts";

/** Has texts made into vectors for a program: limited, settled and on record as a model call is. */
export async function embedTexts(
  caller: DoorCaller,
  { model: name, texts, dimensions }: EmbedRequest,
  ports: DoorPorts,
  gone: AbortSignal,
): Promise<{ readonly model: string; readonly response: EmbedResponse }> {
  return recordedCall(caller, name, ports, gone, async (record, signal) => {
    const model = await permittedModel(name, caller, ports.models, signal);
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
