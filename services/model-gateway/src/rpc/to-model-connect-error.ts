import type { ConnectError } from "@connectrpc/connect";
import { ErrorClass, ModelErrorSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { toConnectError } from "@hlvm/connect-errors/to-connect-error";
import { ModelError, type ErrorClass as DomainErrorClass } from "../domain/model-error.ts";

const CLASSES: Readonly<Record<DomainErrorClass, ErrorClass>> = {
  abort: ErrorClass.ABORT,
  timeout: ErrorClass.TIMEOUT,
  rate_limit: ErrorClass.RATE_LIMIT,
  context_overflow: ErrorClass.CONTEXT_OVERFLOW,
  transient: ErrorClass.TRANSIENT,
  permanent: ErrorClass.PERMANENT,
  unknown: ErrorClass.UNKNOWN,
};

/** The error that a caller sees, with the class of a model's failure beside the advice that every error carries. */
export function toModelConnectError(thrown: unknown): ConnectError {
  const error = toConnectError(thrown);
  if (!(thrown instanceof ModelError)) return error;
  error.details.push({
    desc: ModelErrorSchema,
    value: {
      class: CLASSES[thrown.class],
      provider: thrown.provider,
      providerCode: thrown.providerCode,
      retryAfterMilliseconds: Math.min(Math.ceil(thrown.retryAfterMilliseconds), 0xffff_ffff),
      advice: thrown.advice,
    },
  });
  return error;
}
