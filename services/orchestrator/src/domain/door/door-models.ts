import type { CountTokensRequest, EmbedRequest, EmbedResponse, GenerateRequest, Model, Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import type { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ModelEvent } from "../loop/ports.ts";

/** The model gateway, called for one call of a door. All throw HlvmErrors, and those of a model keep what it said as their cause. */
export interface DoorModels {
  resolve(model: string, signal: AbortSignal): Promise<Model>;
  generate(request: GenerateRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** @returns undefined where the provider counts nothing ahead */
  countTokens(request: CountTokensRequest, signal: AbortSignal): Promise<number | undefined>;
  embed(request: EmbedRequest, signal: AbortSignal): Promise<EmbedResponse>;
}

export interface CalledModel {
  readonly callId: string;
  readonly door: ModelDoor;
  readonly model: string;
  readonly status: OutcomeStatus;
  /** Why it did not succeed; empty where it did. */
  readonly reason: string;
  readonly usage?: Usage;
  readonly isEstimated: boolean;
  /** Nano-dollars; undefined where nobody knows the model's price. */
  readonly cost?: bigint;
  readonly durationMilliseconds: number;
}

export interface ModelCallAudit {
  /** @throws HlvmError */
  recordModelCall(called: CalledModel): Promise<void>;
}
