import { HlvmError, type ErrorCode } from "@hlvm/errors/hlvm-error";

export type ErrorClass = "abort" | "timeout" | "rate_limit" | "context_overflow" | "transient" | "permanent" | "unknown";

/** What follows from a class: the code that a caller sees, and whether the same request may be sent again. */
const ACTIONS: Readonly<Record<ErrorClass, { readonly code: ErrorCode; readonly isRetried: boolean }>> = {
  abort: { code: "cancelled", isRetried: false },
  timeout: { code: "deadline_exceeded", isRetried: false },
  rate_limit: { code: "resource_exhausted", isRetried: true },
  context_overflow: { code: "failed_precondition", isRetried: false },
  transient: { code: "unavailable", isRetried: true },
  permanent: { code: "failed_precondition", isRetried: false },
  unknown: { code: "internal", isRetried: false },
};

export interface ModelErrorFields {
  readonly class: ErrorClass;
  readonly reason: string;
  readonly message: string;
  readonly advice: string;
  readonly provider: string;
  /** The provider's own code, where it gave one. */
  readonly providerCode?: string;
  /** 0 where the provider did not say. */
  readonly retryAfterMilliseconds?: number;
  /** Where the class's own code is too coarse. */
  readonly code?: ErrorCode;
  readonly cause?: unknown;
}

/** Why a model did not answer. */
export class ModelError extends HlvmError {
  readonly class: ErrorClass;
  readonly provider: string;
  readonly providerCode: string;
  readonly retryAfterMilliseconds: number;
  /** Whether sending the same request again may help. */
  readonly isRetried: boolean;

  constructor(fields: ModelErrorFields) {
    super({ ...fields, code: fields.code ?? ACTIONS[fields.class].code });
    this.class = fields.class;
    this.provider = fields.provider;
    this.providerCode = fields.providerCode ?? "";
    this.retryAfterMilliseconds = fields.retryAfterMilliseconds ?? 0;
    this.isRetried = ACTIONS[fields.class].isRetried;
  }
}
