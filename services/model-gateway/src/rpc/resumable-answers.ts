import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  GenerateResponseSchema,
  type GenerateRequest,
  type GenerateResponse,
  type ResumeRequest,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { AnswerEvent } from "../domain/generation.ts";
import { ObservedAnswer } from "../domain/observed-answer.ts";
import type { FoundProvider } from "../domain/model-catalogue.ts";
import { BEGINNING, type Coming, type Place } from "../domain/resume/kept-answer.ts";
import { KeptAnswers, type KeptAnswerLimits } from "../domain/resume/kept-answers.ts";
import { elsewhere, notResumable } from "../domain/resume/not-resumable.ts";
import type { ResumeSeal } from "../domain/resume/resume-seal.ts";
import { takeOver } from "../domain/resume/take-over.ts";
import { callerOf } from "./caller-of.ts";
import { encodeDelta } from "./encode-delta.ts";
import type { ModelServiceParts } from "./routes.ts";
import { answerEvents } from "./answer-events.ts";
import { toModelConnectError } from "./to-model-connect-error.ts";

/** Longer than any answer takes. */
const TOKEN_MILLISECONDS = 1_200_000;

const ALIVE = create(GenerateResponseSchema, { event: { case: "alive", value: {} } });

export interface ResumeSettings {
  readonly limits: KeptAnswerLimits;
  readonly seal: ResumeSeal;
  /** This gateway's name; the same after it was started again. */
  readonly replica: string;
}

/** Answers whose caller said that it comes back where its connection is lost. */
export class ResumableAnswers {
  readonly #parts: ModelServiceParts;
  readonly #settings: ResumeSettings;
  readonly #kept: KeptAnswers<GenerateResponse>;

  constructor(parts: ModelServiceParts, settings: ResumeSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#kept = new KeptAnswers(settings.limits);
  }

  get hasRoom(): boolean {
    return this.#kept.hasRoom;
  }

  /** What a caller hears of a request; the token by which it comes back first. @throws ConnectError */
  async *generate(request: GenerateRequest, context: HandlerContext): AsyncGenerator<GenerateResponse, void> {
    const { principal, remainingMilliseconds } = callContext(context);
    const { seal, replica } = this.#settings;
    const answer = `${seal.prefixOf(replica)}::${randomUUID()}`;
    const remaining = remainingMilliseconds();
    const { organization, id } = principal;
    const caller = callerOf(context);
    const expiresAt = Date.now() + TOKEN_MILLISECONDS;
    const token = seal.seal({ answer, organization, principal: id, replica, model: request.model, expiresAt });
    this.#kept.begin(answer, (signal) =>
      this.#coming(answerEvents(this.#parts, request, { caller, signal, remainingMilliseconds: remaining, answerName: answer })),
    );
    yield* this.#read(answer, BEGINNING, this.#first(token, false), context);
  }

  /** The rest of an answer. @throws ConnectError `resume_not_possible`, `resume_elsewhere` */
  async *resume({ resumeToken, afterSequence, digest }: ResumeRequest, context: HandlerContext): AsyncGenerator<GenerateResponse, void> {
    const place: Place = { sequence: Number(afterSequence), digest };
    try {
      const { answer, replica, model } = this.#settings.seal.open(resumeToken, callContext(context).principal);
      const { catalogue } = await this.#parts.models(callerOf(context));
      if (!this.#kept.has(answer)) {
        if (replica !== this.#settings.replica) throw elsewhere(replica);
        if (!this.#kept.hasRoom) throw notResumable("too many answers are kept");
        this.#takeOver(answer, catalogue.find(model), place);
      }
      yield* this.#read(answer, place, this.#first(resumeToken, true), context);
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  }

  /** Servers that can go on with an answer do so for the next gateway. */
  close(): void {
    this.#kept.close();
  }

  #takeOver(answer: string, found: FoundProvider, place: Place): void {
    this.#parts.log.warn({ model: found.name, ...place }, "going on with an answer that another process began");
    const open = (signal: AbortSignal): AsyncIterable<Coming<GenerateResponse>> => {
      const events = new ObservedAnswer({ provider: found.providerName, model: found.name }, takeOver(found, answer, signal));
      return after(place, this.#coming(events));
    };
    this.#kept.begin(answer, open, place);
  }

  async *#coming(events: AsyncIterable<AnswerEvent> | Promise<AsyncIterable<AnswerEvent>>): AsyncGenerator<Coming<GenerateResponse>, void> {
    let digest = 0;
    for await (const delta of await events) {
      if (delta.kind === "alive") yield "alive";
      else {
        const value = encodeDelta(delta, this.#parts.prices);
        const binary = toBinary(GenerateResponseSchema, value);
        digest = crc32(binary, digest);
        yield { value, bytes: binary.length, digest };
      }
    }
  }

  async *#read(answer: string, place: Place, first: GenerateResponse, context: HandlerContext): AsyncGenerator<GenerateResponse, void> {
    try {
      let sign = first;
      for await (const piece of this.#kept.read(answer, place, context.signal)) {
        if (piece === "alive") yield sign;
        else yield { ...piece.value, sequence: BigInt(piece.sequence), digest: piece.digest };
        sign = ALIVE;
      }
    } catch (thrown) {
      throw toModelConnectError(thrown);
    }
  }

  #first(resumeToken: string, resumed: boolean): GenerateResponse {
    const resumeSeconds = this.#settings.limits.seconds;
    return create(GenerateResponseSchema, { event: { case: "alive", value: { resumed } }, resumeToken, resumeSeconds });
  }
}

/** What follows a place in an answer that is told from its beginning. @throws HlvmError `resume_not_possible` where it is another answer */
async function* after<Value>({ sequence, digest }: Place, events: AsyncIterable<Coming<Value>>): AsyncGenerator<Coming<Value>, void> {
  let count = 0;
  for await (const come of events) {
    if (come === "alive" || count >= sequence) yield come;
    if (come !== "alive" && ++count === sequence && come.digest !== digest) throw notResumable("it is not the answer that was read");
  }
  if (count < sequence) throw notResumable("less of it is there than was read");
}
