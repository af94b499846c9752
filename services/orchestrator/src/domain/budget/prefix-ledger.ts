import { createHash } from "node:crypto";
import { equals, toBinary } from "@bufbuild/protobuf";
import { MessageSchema, Role, type Message, type Model, type ToolDefinition, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CacheBreakCause as Cause } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { estimatePart } from "../context/estimate-tokens.ts";
import { inputOf, ratesAt } from "./cost-of-call.ts";

/** Providers cache no prefix that is shorter. */
const LEAST_CACHED_TOKENS = 2_048;
/** Of what could have come from the cache; they cache in blocks, and what stands last may change without harm. */
const LEAST_LOST_SHARE = 0.2;
/** So long providers keep a prefix at least that nobody asks for. */
const IDLE_MILLISECONDS = 5 * 60_000;
const HASH_CHARACTERS = 16;

/** The session's call before, as far as it is known. */
export interface EarlierCall {
  /** `provider/name`. */
  readonly model: string;
  /** As `PrefixFacts.prefixHash`. */
  readonly prefixHash: string;
  /** All of its input, wherever it came from. */
  readonly inputTokens: bigint;
  /** Whether the provider said of it that its cache gave or took anything. */
  readonly wasCached: boolean;
  readonly at: Date;
}

/** What is on record of a call's prefix. */
export interface PrefixFacts {
  /** Of what stands before the conversation and of the tools, `SYSTEM:TOOLS`. */
  readonly prefixHash: string;
  /** Tokens that the call before had sent; 0 where there was none. */
  readonly reusableTokens: bigint;
  /** Left out: the cache gave what it could. */
  readonly breakCause?: Cause;
  /** Nano-dollars; left out: no price is known. */
  readonly breakCost?: bigint;
}

/** A request as it was sent. */
export interface SentPrefix {
  readonly hash: string;
  readonly messages: readonly Message[];
}

/** Tells, call by call of one run, what a provider's cache could have given, and why it did not. */
export class PrefixLedger {
  /** That answered last. */
  #model: Model;
  #earlier: EarlierCall | undefined;
  #sent: SentPrefix | undefined;
  #tools: { readonly of: readonly ToolDefinition[]; readonly hash: string } | undefined;

  constructor(model: Model) {
    this.#model = model;
  }

  /** The session's last call before this run, to be told before the run's first one is settled. */
  continue(earlier: EarlierCall): void {
    this.#earlier ??= earlier;
  }

  send(messages: readonly Message[], tools: readonly ToolDefinition[]): SentPrefix {
    const rest = messages.findIndex(({ role }) => role !== Role.SYSTEM);
    const system = hashOf(messages.slice(0, rest === -1 ? messages.length : rest).map((message) => toBinary(MessageSchema, message)));
    if (this.#tools?.of !== tools) this.#tools = { of: tools, hash: hashOf([Buffer.from(JSON.stringify(tools.map(wordsOf)))]) };
    return { hash: `${system}:${this.#tools.hash}`, messages };
  }

  /**
   * @param usage as the provider counted it: what is estimated says nothing of a cache
   * @param model where another one answered than answered before
   */
  settle(sent: SentPrefix, usage: Usage, at: Date, model = this.#model): PrefixFacts {
    this.#model = model;
    const earlier = this.#earlier;
    const inputTokens = inputOf(usage);
    const cause = earlier === undefined ? undefined : this.#causeOf(earlier, sent, usage, at);
    const lost = earlier === undefined ? 0n : earlier.inputTokens - usage.cacheReadTokens;
    const rates = cause === undefined ? undefined : ratesAt(this.#model.prices, inputTokens, at);
    this.#sent = sent;
    this.#earlier = {
      model: this.#model.id,
      prefixHash: sent.hash,
      inputTokens,
      wasCached: usage.cacheReadTokens + usage.cacheWriteTokens > 0n || earlier?.wasCached === true,
      at,
    };
    return {
      prefixHash: sent.hash,
      reusableTokens: earlier?.inputTokens ?? 0n,
      ...(cause === undefined ? {} : { breakCause: cause }),
      ...(rates === undefined || rates.input < rates.cacheRead ? {} : { breakCost: lost * (rates.input - rates.cacheRead) }),
    };
  }

  #causeOf(earlier: EarlierCall, sent: SentPrefix, usage: Usage, at: Date): Cause | undefined {
    const lost = Number(earlier.inputTokens - usage.cacheReadTokens);
    const reusable = Number(earlier.inputTokens);
    if (reusable < LEAST_CACHED_TOKENS || lost < reusable * LEAST_LOST_SHARE || !this.#isCaching(earlier, usage, at)) return undefined;
    if (earlier.model !== this.#model.id) return Cause.MODEL;
    const [system, tools] = earlier.prefixHash.split(":");
    const [systemNow, toolsNow] = sent.hash.split(":");
    if (tools !== toolsNow) return Cause.TOOLS;
    if (system !== systemNow) return Cause.SYSTEM;
    if (this.#sent !== undefined && keptShare(this.#sent.messages, sent.messages) < 1 - LEAST_LOST_SHARE) return Cause.MESSAGES;
    return at.getTime() - earlier.at.getTime() > IDLE_MILLISECONDS ? Cause.IDLE : Cause.PROVIDER;
  }

  /** Of a model that nobody ever saw cache anything, no call breaks a cache. */
  #isCaching({ wasCached }: EarlierCall, { cacheReadTokens, cacheWriteTokens }: Usage, at: Date): boolean {
    if (wasCached || cacheReadTokens + cacheWriteTokens > 0n) return true;
    const rates = ratesAt(this.#model.prices, 0n, at);
    return rates !== undefined && rates.cacheRead > 0n && rates.cacheRead < rates.input;
  }
}

/** How much of a request, by estimated tokens, the next one begins with. */
function keptShare(before: readonly Message[], now: readonly Message[]): number {
  const changed = before.findIndex(
    (message, at) => now[at] !== message && (now[at] === undefined || !equals(MessageSchema, message, now[at])),
  );
  if (changed === -1) return 1;
  const tokens = (messages: readonly Message[]): number =>
    messages.reduce((sum, { parts }) => parts.reduce((all, part) => all + estimatePart(part), sum), 0);
  const whole = tokens(before);
  return whole === 0 ? 1 : tokens(before.slice(0, changed)) / whole;
}

function wordsOf({ name, description, inputSchemaJson }: ToolDefinition): string[] {
  return [name, description, inputSchemaJson];
}

function hashOf(pieces: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(`${piece.length}:`).update(piece);
  return hash.digest("hex").slice(0, HASH_CHARACTERS);
}
