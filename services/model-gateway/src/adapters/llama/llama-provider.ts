import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@hlvm/errors/message-of";
import type { Delta, Finish, Generation, Message, Part } from "../../domain/generation.ts";
import type { ModelDescription } from "../../domain/model.ts";
import { ModelError } from "../../domain/model-error.ts";
import { WEIGHT_OF_PIECE, weightedTokens } from "../../domain/pool/weighted-tokens.ts";
import type { NamedAnswer, Provider } from "../../domain/provider.ts";
import { HANDED_OVER } from "../../domain/resume/handed-over.ts";
import { notResumable } from "../../domain/resume/not-resumable.ts";
import { findCrossTalk } from "./canary.ts";
import { countLlamaTokens } from "./count-llama-tokens.ts";
import { findAnswer } from "./find-answer.ts";
import { distrust, judged } from "./judge-failure.ts";
import type { LlamaInstance } from "./llama-instance.ts";
import { LlamaPool } from "./llama-pool.ts";
import { SILENT } from "./not-ready.ts";
import { noServers } from "./pool-refusals.ts";
import { PoolRequest } from "./pool-request.ts";
import { ServerList, type ServerListSettings } from "./server-list.ts";
import type { Lease, SlotGroup } from "./slot-group.ts";
import { warmPrefix } from "./warm-prefix.ts";

/** Less than the deadline of whoever asks which model a name stands for. */
const DESCRIBE_MILLISECONDS = 8_000;
const ANSWERS_BETWEEN_CANARIES = 64;
/** Longer than reading any prompt takes. */
const WARM_MILLISECONDS = 120_000;

export interface LlamaSettings extends ServerListSettings {
  /** After how many answers of a server it is tried whether it mixes conversations up. */
  readonly answersBetweenCanaries?: number;
  /** Whether servers read what the next request begins with while tools run. */
  readonly warmsPrefixes?: boolean;
}

/** One or more llama-servers of one's own. */
export class LlamaProvider implements Provider {
  readonly pool: LlamaPool;
  readonly #answersBetweenCanaries: number;
  readonly #warmsPrefixes: boolean;

  constructor(settings: LlamaSettings) {
    this.pool = new LlamaPool(new ServerList(settings));
    this.#answersBetweenCanaries = settings.answersBetweenCanaries ?? ANSWERS_BETWEEN_CANARIES;
    this.#warmsPrefixes = settings.warmsPrefixes ?? false;
  }

  /** Ends what a gateway that is gone has left at the servers, unless somebody comes back for it. */
  sweep(): Promise<void> {
    return this.pool.sweep();
  }

  async list(): Promise<readonly ModelDescription[]> {
    const instances = await this.pool.instances();
    if (instances.length === 0) throw noServers(this.pool.problem);
    const working = instances.filter((instance) => instance.failure === undefined);
    const failure = instances.find((instance) => instance.failure !== undefined)?.failure;
    if (working.length === 0 && failure !== undefined) throw failure;
    const models = working.flatMap((instance) => instance.models);
    // A request may come to any of them: what all can do counts.
    return Array.from(Map.groupBy(models, ({ name }) => name).values(), (same) =>
      same.reduce((least, each) => (each.contextWindow < least.contextWindow ? each : least)),
    );
  }

  /** Where no server says that it is well, asks for some seconds: on a busy machine one may be. */
  async describe(name: string): Promise<ModelDescription | undefined> {
    const until = performance.now() + DESCRIBE_MILLISECONDS;
    for (;;) {
      try {
        return (await this.list()).find((model) => model.name === name);
      } catch (thrown) {
        if (!(thrown instanceof ModelError && thrown.reason === SILENT) || performance.now() > until) throw thrown;
        await sleep(thrown.retryAfterMilliseconds);
      }
    }
  }

  /** Of the servers that have a model now, with the /v1. @throws ModelError where none has */
  async urlsFor(model: string): Promise<readonly string[]> {
    const serving = (await this.pool.instances()).filter(({ groups }) => groups.some((group) => group.serves(model)));
    if (serving.length === 0) throw this.pool.nobodyServes(model);
    return serving.map(({ url }) => `${url}/v1`);
  }

  /** Takes no slot: a server counts beside what it generates. */
  async countTokens(generation: Generation, signal: AbortSignal): Promise<number | undefined> {
    const instances = await this.pool.instances();
    const instance = instances.find(({ groups }) => groups.some((group) => group.serves(generation.model)));
    return instance === undefined ? undefined : countLlamaTokens(instance.url, generation, signal);
  }

  /** The server that has the answer gives it from its beginning, in the slot that it has. */
  async *resume(named: NamedAnswer, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    const instance = await findAnswer(this.pool, named.answerName, signal, heard);
    const group = instance.groups[0]!;
    await instance.answers.take(named.answerName);
    const lease = group.take(new PoolRequest({ ...named, messages: [], tools: [], maximumOutputTokens: 0, temperature: undefined }));
    let hasBegun = false;
    try {
      for await (const delta of instance.provider.keptAnswer(named, signal, heard)) {
        hasBegun = true;
        yield delta;
      }
    } catch (thrown) {
      throw hasBegun || signal.aborted ? judged(thrown, lease) : notResumable(messageOf(thrown));
    } finally {
      leave(instance, named.answerName, signal);
      this.pool.release(lease, undefined);
    }
  }

  async *generate(generation: Generation, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    const request = new PoolRequest(generation);
    for (;;) {
      const lease = await this.pool.acquire(request, signal, heard);
      try {
        const answer = yield* this.#run(generation, { lease, signal, heard });
        if (answer !== undefined && this.#warmsPrefixes) void this.#warm(lease.group, generation, answer);
        return;
      } catch (thrown) {
        if (signal.aborted || !gaveWay(lease)) throw thrown;
        request.timesGivenWay++;
      }
    }
  }

  /** @returns the answer where it ended with calls, to which there will be results */
  async *#run(generation: Generation, { lease, signal, heard }: Run): AsyncGenerator<Delta, Message | undefined> {
    const { group } = lease;
    const { answers } = group.instance;
    const answerName = answers.isPossible ? generation.answerName : undefined;
    // Where the server tells nothing, its prompt counts as it was estimated.
    let tokens = lease.request.cost;
    const either = AbortSignal.any([signal, lease.givingWay.signal]);
    const parts: Part[] = [];
    let finish: Finish | undefined;
    try {
      if (answerName !== undefined) await answers.take(answerName);
      for await (const delta of group.instance.provider.generate({ ...generation, answerName }, either, heard)) {
        if (delta.kind === "usage") {
          group.settle(lease, delta);
          tokens = weightedTokens(delta);
        } else {
          group.speak(lease);
          tokens += WEIGHT_OF_PIECE;
        }
        if (delta.kind === "finish") finish = delta;
        else if (delta.kind === "text" || delta.kind === "thinking" || delta.kind === "tool-call") parts.push(delta);
        yield delta;
      }
      // It ended without an end: it may have been started anew.
      if (finish === undefined) group.instance.doubt();
      return parts.some(({ kind }) => kind === "tool-call") ? { role: "assistant", parts: joined(parts) } : undefined;
    } catch (thrown) {
      throw judged(thrown, lease);
    } finally {
      if (answerName !== undefined) leave(group.instance, answerName, either, finish !== undefined);
      this.pool.release(lease, gaveWay(lease) ? undefined : tokens);
      void this.#tryForCrossTalk(group, generation.model);
    }
  }

  async #warm(group: SlotGroup, generation: Generation, answer: Message): Promise<void> {
    const next: Generation = { ...generation, answerName: undefined, messages: [...generation.messages, answer], priority: "batch" };
    const request = new PoolRequest(next);
    const lease = group.serves(generation.model) ? this.pool.acquireIdle(group, request) : undefined;
    if (lease === undefined) return;
    const signal = AbortSignal.any([lease.givingWay.signal, AbortSignal.timeout(WARM_MILLISECONDS)]);
    if (await warmPrefix(group.instance.url, next, signal)) group.held.add(request.blocks.hashes);
    this.pool.release(lease, undefined);
  }

  async #tryForCrossTalk(group: SlotGroup, model: string): Promise<void> {
    if (group.answersSinceCanary < this.#answersBetweenCanaries || group.instance.drain !== undefined) return;
    const request = new PoolRequest({ model, messages: [], tools: [], maximumOutputTokens: 0, temperature: 0, priority: "batch" });
    const lease = this.pool.acquireSpare(group, request);
    if (lease === undefined) return;
    group.answersSinceCanary = 0;
    const found = await findCrossTalk(group.instance.url, model);
    if (found !== undefined) distrust(group.instance, found);
    this.pool.release(lease, undefined);
  }
}

/** A text that came in pieces is one. */
function joined(parts: readonly Part[]): readonly Part[] {
  const texts = parts.filter((part) => part.kind === "text");
  const text = texts.map((part) => part.text).join("");
  return [...(text === "" ? [] : [{ kind: "text", text } as const]), ...parts.filter((part) => part.kind !== "text")];
}

interface Run {
  readonly lease: Lease;
  readonly signal: AbortSignal;
  readonly heard: () => void;
}

/** Nobody reads a server's answer on: it ends, but for one that is whole, and may be asked for once more, or that the next gateway goes on with. */
function leave({ answers }: LlamaInstance, name: string, { aborted, reason }: AbortSignal, isWhole = !aborted): void {
  if (aborted && reason === HANDED_OVER) return;
  if (isWhole) answers.endLater(name);
  else void answers.end(name);
}

function gaveWay(lease: Lease): boolean {
  return lease.givingWay.signal.aborted && lease.spokeAt === undefined;
}
