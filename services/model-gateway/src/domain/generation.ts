import type { Model } from "./model.ts";

/** What a request may ask for besides an answer; what is left out is the provider's to decide. */
export interface GenerationOptions {
  /** Left out: the model decides whether it calls any. */
  readonly toolChoice?: { readonly kind: "none" } | { readonly kind: "any" } | { readonly kind: "tool"; readonly tool: string };
  readonly parallelToolCalls?: boolean;
  readonly stopSequences?: readonly string[];
  readonly outputFormat?: OutputFormat;
  readonly effort?: Effort;
  readonly topP?: number;
  /** What calls with the same prefix have in common, so that they reach the same cache. */
  readonly cacheKey?: string;
  /** The provider's cache keeps the prefix for an hour, where it can. */
  readonly cacheHour?: boolean;
  /** Whom the provider may name when it reports abuse: a hash. */
  readonly userHash?: string;
  readonly serviceTier?: "standard" | "flex" | "priority";
  /** In a queue of our own, interactive calls go first. Left out: interactive. */
  readonly priority?: "interactive" | "batch";
  /** Whose share of a pool the call takes. */
  readonly fairShare?: string;
  /** What a server that can go on with the answer while nobody reads it shall call it. It ends where the call is aborted, but for a gateway that stops. */
  readonly answerName?: string;
}

/** How long a model thinks before it answers. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "maximum";

/** An answer that is JSON. */
export interface OutputFormat {
  readonly name: string;
  /** JSON Schema; left out: any object. */
  readonly schema?: { readonly [name: string]: unknown };
  /** The provider holds the model to the schema. */
  readonly strict: boolean;
}

/** One request to a model, whatever the provider. */
export interface Generation extends GenerationOptions {
  /** The name within the provider, without `provider/`. */
  readonly model: string;
  /** Several system messages may come first (the stable prefix, then memory), and more of them later on. */
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  readonly maximumOutputTokens: number;
  /** Undefined leaves it to the provider. */
  readonly temperature: number | undefined;
}

export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
}

export type Part =
  | { readonly kind: "text"; readonly text: string }
  | ({ readonly kind: "thinking" } & Thinking)
  | ({ readonly kind: "tool-call" } & RequestedCall)
  | ({ readonly kind: "image" } & AttachedImage)
  | ({ readonly kind: "document" } & AttachedDocument)
  | {
      readonly kind: "tool-result";
      readonly id: string;
      readonly tool: string;
      readonly content: string;
      readonly isError: boolean;
      /** After the content. */
      readonly images?: readonly AttachedImage[];
    };

/** In a message of the user or a tool's result, and only to a model that takes images. */
export interface AttachedImage {
  /** `image/png`, `image/jpeg` or `image/webp`. */
  readonly mediaType: string;
  readonly data: Uint8Array;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** In a message of the user, and only to a model that takes documents. */
export interface AttachedDocument {
  /** `application/pdf`. */
  readonly mediaType: string;
  readonly data: Uint8Array;
  readonly name: string;
}

/** A finished piece of thinking, with what the provider wants back unchanged: a signature, an encrypted form. */
export interface Thinking {
  readonly text: string;
  readonly providerData: Uint8Array;
}

export interface RequestedCall {
  readonly id: string;
  readonly tool: string;
  /** What the model wrote; not always valid JSON. */
  readonly argumentsJson: string;
  /** What the provider wants back with it, unchanged; left out where it wants nothing. */
  readonly providerData?: Uint8Array;
}

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: { readonly [name: string]: unknown };
  /** The provider holds the model to the schema. */
  readonly isStrict?: boolean;
}

export type Delta =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking-delta"; readonly text: string }
  | ({ readonly kind: "thinking" } & Thinking)
  | ({ readonly kind: "tool-call" } & RequestedCall)
  | ({ readonly kind: "usage" } & Usage)
  | ({ readonly kind: "finish" } & Finish);

/** What a caller hears: first which model answers where it is another than was asked for, the answer, and in its pauses that the call goes on. */
export type AnswerEvent = Delta | { readonly kind: "served-by"; readonly model: Model; readonly why: string } | { readonly kind: "alive" };

/** Tokens, each counted once: `input` leaves out what the cache gave or took. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Part of `cacheWrite`: what the cache keeps for an hour, where that has a price of its own. */
  readonly cacheWriteHour?: number;
  /** Part of `output`, where the provider tells. */
  readonly reasoning: number;
}

export interface Finish {
  readonly reason: "stop" | "tool-calls" | "length" | "refusal";
  /** For a refusal: the provider's words, where it gave any. */
  readonly detail: string;
}

/** The text of a message, its pieces joined. */
export function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}

/** What the user asked last, and how much of an answer there is to it. */
export function latestQuestion(messages: readonly Message[]): { readonly question: string; readonly since: readonly Message[] } {
  const asked = messages.findLastIndex((message) => message.role === "user");
  if (asked === -1) return { question: "", since: [] };
  // Attachments, and words that were never answered, stand before it in the same message.
  const question = messages[asked]!.parts.findLast((part) => part.kind === "text");
  return { question: question?.text ?? "", since: messages.slice(asked + 1) };
}
