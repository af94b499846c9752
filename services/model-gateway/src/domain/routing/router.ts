import { HlvmError } from "@hlvm/errors/hlvm-error";
import { latestQuestion, type Generation } from "../generation.ts";
import type { Model } from "../model.ts";
import type { ModelCatalogue } from "../model-catalogue.ts";
import type { PriceTable } from "../price-table.ts";
import type { NextTarget } from "../target.ts";
import type { Candidate } from "./candidate.ts";
import { chooseModel } from "./choose-model.ts";
import { bothNeeds, unmetNeed, type LeftOut, type ModelNeeds } from "./model-needs.ts";
import { needsOfGeneration } from "./needs-of-generation.ts";
import { AUTO, isRouted, routedModel, routeName, type Route } from "./route.ts";
import type { Scored } from "./score-model.ts";
import type { WeighedTask } from "./weigh-task.ts";

/** Providers that do not answer for so long are left out of a choice. */
const DESCRIBE_MILLISECONDS = 3_000;
const MOST_NAMED = 6;

export interface Asked {
  /** In a person's words; empty where there are none. */
  readonly task: string;
  readonly needs: ModelNeeds;
}

/** A call to a model that a route was resolved to. */
export interface RoutedCall {
  /** `auto` or `route/NAME`; empty where the model was named. */
  readonly route: string;
  readonly model: string;
  /** Of those that may answer in its place. */
  readonly needs: ModelNeeds;
}

export interface RankedModel extends Pick<Scored, "score" | "parts"> {
  readonly model: Model;
  /** Of a weighted route: how often it is drawn, from 0 to 1. */
  readonly share?: number;
}

/** What a route comes to for a task. */
export interface Explanation {
  readonly route: string;
  /** The first is taken, or one is drawn by share; the others answer in its place. */
  readonly ranked: readonly RankedModel[];
  readonly leftOut: readonly LeftOut[];
  readonly words: WeighedTask["words"];
}

export interface RouterOptions {
  readonly catalogue: ModelCatalogue;
  readonly routes: ReadonlyMap<string, Route>;
  readonly prices: PriceTable;
  /** Where none is named; `auto` and `route/NAME` too, and empty: the catalogue's. */
  readonly defaultModel?: string;
  /** From 0 up to and without 1. */
  readonly random?: () => number;
}

/** Which model `auto` and routes stand for, and which ones may answer in its place. A model that is named stands for itself alone. */
export class Router {
  readonly #catalogue: ModelCatalogue;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #prices: PriceTable;
  readonly #default: string;
  readonly #random: () => number;

  constructor({ catalogue, routes, prices, defaultModel = "", random = Math.random }: RouterOptions) {
    this.#catalogue = catalogue;
    this.#routes = routes;
    this.#prices = prices;
    this.#default = defaultModel;
    this.#random = random;
  }

  /**
   * The concrete model behind a name, `auto`, `route/NAME` or the default.
   * @throws HlvmError `route_not_found`, `no_model_fits`, `model_capability_unknown`, and what ModelCatalogue.resolve throws
   */
  async resolve(named: string, asked: Asked, signal: AbortSignal): Promise<{ readonly model: Model; readonly route: string }> {
    const wanted = named || this.#default;
    if (isRouted(wanted)) return { model: this.#draw(await this.explain(wanted, asked, signal)), route: wanted };
    const model = await this.#catalogue.resolve(wanted, signal);
    const described = this.#candidate({ ...model, isGuess: false });
    if (model.isGuess && unmetNeed(described, asked.needs) !== undefined) throw capabilityUnknown(model);
    return { model, route: "" };
  }

  /** Every model worth showing; where `auto` or a route is the default, the model that it would take for no task in particular. */
  async list(signal: AbortSignal): Promise<readonly Model[]> {
    const models = await this.#catalogue.list(signal);
    if (!isRouted(this.#default)) return models;
    const first = await this.explain(this.#default, { task: "", needs: {} }, signal).then(
      ({ ranked }) => ranked[0]?.model.id,
      () => undefined,
    );
    return models.map((model) => ({ ...model, isDefault: model.id === first }));
  }

  /** `auto`, and each `route/NAME`. */
  get names(): readonly string[] {
    return [AUTO, ...Array.from(this.#routes.keys(), routedModel)];
  }

  /** @throws HlvmError `route_not_found` */
  async explain(route: string, asked: Asked, signal: AbortSignal): Promise<Explanation> {
    const name = routeName(route);
    if (name === undefined) return this.#explainAuto(asked, signal);
    const known = this.#routes.get(name);
    if (known === undefined) throw routeNotFound(name, [...this.#routes.keys()]);
    return this.#explainRoute(route, known, asked.needs, signal);
  }

  /** Those that may answer a request in the place of a model of the route; undefined where the model was named. */
  next({ route, model: wanted, needs }: RoutedCall, generation: Generation, signal: AbortSignal): NextTarget | undefined {
    if (!isRouted(route)) return undefined;
    const asked = new Set([wanted]);
    let others: Promise<readonly Model[]> | undefined;
    let why: string | undefined;
    return async (failed) => {
      others ??= this.#others(route, generation, needs, signal).catch(() => []);
      why ??= failed.message;
      const model = (await others).find(({ id }) => !asked.has(id));
      if (model !== undefined) asked.add(model.id);
      return model && { ...this.#catalogue.find(model.id), servedBy: { model, why } };
    };
  }

  async #others(route: string, generation: Generation, needs: ModelNeeds, signal: AbortSignal): Promise<readonly Model[]> {
    const task = latestQuestion(generation.messages).question;
    const { ranked } = await this.explain(route, { task, needs: bothNeeds(needs, needsOfGeneration(generation)) }, signal);
    return ranked.map(({ model }) => model);
  }

  async #explainAuto({ task, needs }: Asked, signal: AbortSignal): Promise<Explanation> {
    const models = (await this.#catalogue.list(signal)).filter(({ provider }) => this.#catalogue.facts(provider).isApart !== true);
    const usable = models.filter(({ isAvailable }) => isAvailable).map((model) => this.#candidate(model));
    const absent = models.filter(({ isAvailable }) => !isAvailable).map(({ id, advice }) => ({ id, reason: "not_available", why: advice }));
    const { ranked, leftOut, words } = chooseModel(usable, task, needs);
    return {
      route: AUTO,
      ranked: ranked.map(({ candidate, ...scored }) => ({ ...scored, model: candidate.model })),
      leftOut: [...leftOut, ...absent],
      words,
    };
  }

  async #explainRoute(route: string, { models, needs }: Route, own: ModelNeeds, signal: AbortSignal): Promise<Explanation> {
    const both = bothNeeds(needs, own);
    const looked = await Promise.all(models.map(({ id }) => this.#look(id, both, signal)));
    const leftOut = looked.filter((each) => "reason" in each);
    const fitting = looked.flatMap((each, index) => ("reason" in each ? [] : [{ model: each, weight: models[index]!.weight }]));
    const sum = fitting.reduce((whole, { weight = 0 }) => whole + weight, 0);
    const ranked = fitting
      .toSorted((one, other) => (other.weight ?? 0) - (one.weight ?? 0))
      .map(({ model, weight }) => ({ model, score: 0, parts: [], ...(weight === undefined ? {} : { share: weight / sum }) }));
    return { route, ranked, leftOut, words: [] };
  }

  /** One model of a route, or why it cannot be taken. */
  async #look(id: string, needs: ModelNeeds, signal: AbortSignal): Promise<Model | LeftOut> {
    try {
      const model = await this.#catalogue.resolve(id, AbortSignal.any([signal, AbortSignal.timeout(DESCRIBE_MILLISECONDS)]));
      return unmetNeed(this.#candidate(model), needs) ?? model;
    } catch (thrown) {
      if (signal.aborted || !(thrown instanceof HlvmError)) throw thrown;
      return { id, reason: thrown.reason, why: thrown.message };
    }
  }

  #draw({ route, ranked, leftOut }: Explanation): Model {
    let left = this.#random();
    const drawn = ranked.find(({ share = 1 }) => (left -= share) < 0) ?? ranked[0];
    if (drawn === undefined) throw noModelFits(route, leftOut);
    return drawn.model;
  }

  #candidate(model: Model): Candidate {
    const now = Date.now();
    const { isLocal = false, isStandIn = false } = this.#catalogue.facts(model.provider);
    const price = this.#prices.pricesOf(model.id).findLast(({ validFrom }) => validFrom.getTime() <= now);
    return { model, isLocal, isStandIn, rates: price?.rates };
  }
}

function routeNotFound(name: string, names: readonly string[]): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "route_not_found",
    message: `There is no route "${name}".`,
    advice: names.length === 0 ? "HLVM_ROUTES_FILE names none; `auto` is always there." : `Take auto, or one of ${names.join(", ")}.`,
  });
}

function noModelFits(route: string, leftOut: readonly LeftOut[]): HlvmError {
  const named = leftOut.slice(0, MOST_NAMED).map(({ id, reason, why }) => `${id} (${reason}: ${why})`);
  const more = leftOut.length > MOST_NAMED ? `, and ${leftOut.length - MOST_NAMED} more` : "";
  return new HlvmError({
    code: "failed_precondition",
    reason: "no_model_fits",
    message: `No model of ${route} has all that is needed: ${named.join(", ") || "there is none"}${more}.`,
    advice: "`hlvm model explain` shows why each was left out; name a model with --model provider/name to take it all the same.",
  });
}

function capabilityUnknown({ id, provider }: Model): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "model_capability_unknown",
    message: `Nobody knows whether ${id} has what is needed: ${provider} does not list it.`,
    advice: "Take a model that `hlvm model list` shows with what it takes, or ask without what it may not take.",
  });
}
