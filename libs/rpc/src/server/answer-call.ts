import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type MethodImplSpec } from "@connectrpc/connect";
import { translateError } from "../translate-error.ts";
import { decodeMessage } from "../wire/decode-message.ts";
import { withinLimit } from "../wire/within-limit.ts";
import { admitRequest } from "./admit-request.ts";
import type { CallAnswers } from "./call-answers.ts";
import type { CallHandling } from "./call-handling.ts";
import type { ServerParts } from "./server-parts.ts";

export type CarriedSpec = Extract<MethodImplSpec, { kind: "unary" | "server_streaming" }>;

/** Has a call handled and gives its answers. @returns the error that it ends with, if any */
export async function answerCall(
  spec: CarriedSpec,
  request: Uint8Array,
  handling: CallHandling,
  answers: CallAnswers,
  server: ServerParts,
): Promise<ConnectError | undefined> {
  const { method } = spec;
  try {
    const message = decodeMessage(method.input, request, Code.InvalidArgument);
    await admitRequest(handling, message, server);
    if (spec.kind === "unary") {
      answers.add(withinLimit(toBinary(method.output, create(method.output, await spec.impl(message, handling)))));
      return undefined;
    }
    for await (const answer of spec.impl(message, handling)) {
      answers.add(withinLimit(toBinary(method.output, create(method.output, answer))));
      await answers.room(handling.signal);
    }
    return undefined;
  } catch (thrown) {
    return ConnectError.from(translateError(server.log, thrown, `${method.parent.typeName}/${method.name}`), Code.Internal);
  }
}
