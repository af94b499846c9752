import { ErrorClass } from "@hlvm/proto/hlvm/model/v1/model_pb";

/** A model call that gave no whole answer. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly errorClass: ErrorClass;
  /** What a person can do about it. */
  readonly advice: string;
  /** Where the provider said how long to wait. */
  readonly retryAfterMilliseconds: number;

  constructor(fields: { errorClass: ErrorClass; message: string; advice: string; retryAfterMilliseconds?: number; cause?: unknown }) {
    super(fields.message, { cause: fields.cause });
    this.errorClass = fields.errorClass;
    this.advice = fields.advice;
    this.retryAfterMilliseconds = fields.retryAfterMilliseconds ?? 0;
  }

  /** Whether the same call may well succeed a little later. */
  get isPassing(): boolean {
    return this.errorClass === ErrorClass.TRANSIENT || this.errorClass === ErrorClass.RATE_LIMIT;
  }
}
