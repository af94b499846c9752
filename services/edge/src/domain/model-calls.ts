import type {
  CountTokensRequest,
  EmbedRequest,
  EmbedResponse,
  GenerateRequest,
  GenerateResponse,
  Model,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import type { Caller } from "./authenticator.ts";

/** What of an answer comes, one after the other; its finish last. */
export type AnswerEvent = Exclude<GenerateResponse["event"], { case: undefined }>;

/** One call, as it goes to the services behind the edge. */
export interface DoorCall {
  readonly caller: Caller;
  readonly door: ModelDoor;
  /** Whose model a name without a provider is. */
  readonly provider: "openai" | "anthropic";
  /** A UUID. */
  readonly callId: string;
}

export interface StartedCall {
  /** `provider/name` */
  readonly model: string;
  /** Estimated. */
  readonly inputTokens: number;
  /** Leaving the loop cancels the call. */
  readonly events: AsyncIterable<AnswerEvent>;
}

/** Models, for programs. All throw HlvmErrors. */
export interface ModelCalls {
  generate(call: DoorCall, request: GenerateRequest, gone: AbortSignal): Promise<StartedCall>;
  countTokens(call: DoorCall, request: CountTokensRequest, gone: AbortSignal): Promise<number>;
  embed(call: DoorCall, request: EmbedRequest, gone: AbortSignal): Promise<{ readonly model: string; readonly response: EmbedResponse }>;
  /** Those that can be used now and that the caller's token is for. */
  list(caller: Caller, gone: AbortSignal): Promise<readonly Model[]>;
}
