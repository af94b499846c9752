import type { ErrorClass } from "@hlvm/proto/hlvm/model/v1/model_pb";

/** A model call that gave no whole answer. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly errorClass: ErrorClass;
  /** What a person can do about it. */
  readonly advice: string;
  /** Whether it is the way to the gateway that failed, and not a model: of a model's failures the gateway tries again what may pass. */
  readonly isConnectionLost: boolean;

  constructor(fields: { errorClass: ErrorClass; message: string; advice: string; isConnectionLost?: boolean; cause?: unknown }) {
    super(fields.message, { cause: fields.cause });
    this.errorClass = fields.errorClass;
    this.advice = fields.advice;
    this.isConnectionLost = fields.isConnectionLost ?? false;
  }
}
