import type { GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { AnswerEvent } from "../../domain/model-calls.ts";

/** What a client has to be told of a call besides the answer. */
export interface CallHead {
  /** 32 hex digits. */
  readonly id: string;
  /** `provider/name` */
  readonly model: string;
  /** Estimated. */
  readonly inputTokens: number;
  /** Seconds since 1970. */
  readonly created: number;
}

/** One piece of a stream of events; a comment where there is nothing to tell but that it goes on. */
export type StreamPiece = { readonly event?: string; readonly data: unknown } | { readonly comment: string };

/** Says an answer in one protocol: as a stream, or whole. */
export interface AnswerWriter {
  begin(): StreamPiece[];
  write(event: AnswerEvent): StreamPiece[];
  /** After the last event. */
  whole(): unknown;
  /** That a stream fails, where its protocol has it told with what was said so far. */
  fail?(error: object): StreamPiece[];
}

/** A request that was read. */
export interface ReadRequest {
  readonly request: GenerateRequest;
  readonly isStream: boolean;
  readonly writer: (head: CallHead) => AnswerWriter;
}

/** A data event that is no JSON, as OpenAI ends its streams. */
export const DONE = Symbol("[DONE]");
