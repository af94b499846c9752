import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { EmbedResponseSchema, type EmbedRequest, type EmbedResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { callerOf } from "./caller-of.ts";
import type { ModelServiceParts } from "./routes.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

const LONGEST_CALL_MILLISECONDS = 300_000;

/** Texts as vectors, from a provider that has models for it. */
export function embedHandler({ models }: Pick<ModelServiceParts, "models">) {
  return async ({ model, texts, dimensions }: EmbedRequest, context: HandlerContext): Promise<EmbedResponse> => {
    try {
      const { catalogue } = await models(callerOf(context));
      const { name, providerName, provider } = catalogue.find(model);
      if (provider.embed === undefined) throw embeddingsNotSupported(providerName);
      const signal = AbortSignal.any([callContext(context).signal, AbortSignal.timeout(LONGEST_CALL_MILLISECONDS)]);
      const { vectors, input } = await provider.embed({ model: name, texts, dimensions: dimensions || undefined }, signal);
      return create(EmbedResponseSchema, {
        embeddings: vectors.map((values) => ({ values: [...values] })),
        ...(input === undefined ? {} : { usage: { inputTokens: BigInt(input) } }),
      });
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  };
}

function embeddingsNotSupported(provider: string): HlvmError {
  return new HlvmError({
    code: "unimplemented",
    reason: "embeddings_not_supported",
    message: `${provider} makes no embeddings.`,
    advice: "Take a model of openai, openai-compatible or llama that is made for it.",
  });
}
