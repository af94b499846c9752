import { create, toBinary, type DescMessage, type DescMethod, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { decodeMessage } from "./wire/decode-message.ts";
import { headerRecord } from "./wire/header-record.ts";
import type { HeadersInput } from "./wire/headers-input.ts";
import { withinLimit } from "./wire/within-limit.ts";
import { CallCarrier } from "./client/call-carrier.ts";
import { CallLimits } from "./client/call-limits.ts";
import type { CarriedCall } from "./client/carried-call.ts";
import { CarriedResponse } from "./client/carried-response.ts";
import { effectiveTimeout } from "./client/effective-timeout.ts";
import { NeverBegunError } from "./client/never-begun-error.ts";
import { onlyMessage } from "./client/only-message.ts";

/** The longest that the contract can say. Every service refuses it. */
const LONGEST_TIMEOUT_MILLISECONDS = 2 ** 32 - 1;

/**
 * A connection from one service of the mesh to another: unary and server-streaming calls, all carried by one stream
 * (`hlvm.mesh.v1`). A call without a deadline of its own gets 30 s; a frozen peer is noticed by pings. A call that the
 * service refused before it began, as one that shuts down does, is made once more on another connection.
 */
export function createMeshTransport(baseUrl: string): Transport {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, "");
  let carrier: CallCarrier | undefined;

  function perform<I extends DescMessage>(
    method: DescMethod & { input: I },
    signal: AbortSignal | undefined,
    givenTimeout: number | undefined,
    added: HeadersInput | undefined,
    message: MessageInitShape<I>,
  ): AsyncGenerator<Uint8Array, void> {
    const timeout = effectiveTimeout(givenTimeout);
    const limits = new CallLimits(signal, timeout);
    const request = withinLimit(toBinary(method.input, create(method.input, message)));
    const path = `/${method.parent.typeName}/${method.name}`;
    const timeoutMilliseconds = Math.min(Math.ceil(timeout ?? 0), LONGEST_TIMEOUT_MILLISECONDS);
    const begin = { path, headers: headerRecord(added), timeoutMilliseconds, request };
    return answers(() => {
      limits.throwIfAborted();
      if (carrier?.isUsable !== true) {
        carrier?.leave();
        carrier = new CallCarrier(origin, prefix);
      }
      return carrier.begin(begin, limits);
    });
  }

  return {
    unary: async (method, signal, timeoutMilliseconds, added, message) => {
      let found: Uint8Array | undefined;
      for await (const answer of perform(method, signal, timeoutMilliseconds, added, message)) {
        if (found !== undefined) throw new ConnectError("The service answered more than once.", Code.Internal);
        found = answer;
      }
      if (found === undefined) throw new ConnectError("The service ended the call without an answer.", Code.Internal);
      return new CarriedResponse(false, method, decodeMessage(method.output, found));
    },
    stream: async (method, signal, timeoutMilliseconds, added, messages) => {
      const found = perform(method, signal, timeoutMilliseconds, added, await onlyMessage(method, messages));
      return new CarriedResponse(true, method, decoded(method.output, found));
    },
  };
}

async function* answers(begin: () => CarriedCall): AsyncGenerator<Uint8Array, void> {
  let call = begin();
  try {
    const first = call.next().catch((thrown: unknown) => {
      if (!NeverBegunError.is(thrown)) throw thrown;
      call = begin();
      return call.next();
    });
    for (let answer = await first; answer !== undefined; answer = await call.next()) yield answer;
  } catch (thrown) {
    throw ConnectError.from(thrown, Code.Internal);
  } finally {
    call.cancel();
  }
}

async function* decoded<O extends DescMessage>(type: O, answers: AsyncIterable<Uint8Array>): AsyncGenerator<MessageShape<O>, void> {
  for await (const answer of answers) yield decodeMessage(type, answer);
}
