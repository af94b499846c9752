import { create } from "@bufbuild/protobuf";
import { EmbedRequestSchema, type EmbedRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import type { Caller } from "../../domain/authenticator.ts";
import type { Request } from "../read-body.ts";
import type { Response } from "../send-error.ts";
import { callOf, goneSignal, readFields, sendJson, type DoorParts } from "./answer-door.ts";
import type { Fields } from "./fields.ts";

const MOST_DIMENSIONS = 65_536;
const BYTES_A_NUMBER = 4;

/** `/v1/embeddings`. */
export async function answerEmbeddings(request: Request, response: Response, caller: Caller, { calls }: DoorParts): Promise<void> {
  const gone = goneSignal(response);
  const { asked, isBase64 } = await readFields(request, readEmbeddings);
  const { model, response: answer } = await calls.embed(callOf({ door: ModelDoor.EMBEDDINGS, protocol: "openai" }, caller), asked, gone);
  const data = answer.embeddings.map(({ values }, index) => ({
    object: "embedding",
    index,
    embedding: isBase64 ? packed(values) : values,
  }));
  const tokens = Number(answer.usage?.inputTokens ?? 0n);
  sendJson(response, { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

/** @throws HlvmError */
export function readEmbeddings(body: Fields): { readonly asked: EmbedRequest; readonly isBase64: boolean } {
  const texts = typeof body.raw("input") === "string" ? [body.text("input")] : body.texts("input");
  if (texts.length === 0 || texts.includes("")) throw body.error("input", "must be a text, or a list of texts, that are not empty");
  const asked = create(EmbedRequestSchema, { model: body.text("model"), texts, dimensions: body.whole("dimensions", 1, MOST_DIMENSIONS) });
  const isBase64 = body.word("encoding_format", ["float", "base64"]) === "base64";
  body.end(["user"]);
  return { asked, isBase64 };
}

/** As the stock SDK asks for them: 32-bit floats, the lowest byte first. */
function packed(values: readonly number[]): string {
  const bytes = Buffer.alloc(values.length * BYTES_A_NUMBER);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * BYTES_A_NUMBER);
  return bytes.toString("base64");
}
