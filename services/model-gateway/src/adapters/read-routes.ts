import { readFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { ModelNeeds } from "../domain/routing/model-needs.ts";
import type { Route, RoutedModel } from "../domain/routing/route.ts";

type Fields = Readonly<Record<string, unknown>>;

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MOST_ROUTES = 256;
const MOST_MODELS = 32;
const MOST_WEIGHT = 1_000;
/** As in the file of prices: dollars for a million tokens; a thousandth of them is a nano-dollar a token. */
const DECIMAL = /^(\d{1,6})(?:\.(\d{1,3}))?$/;
const FLAGS = ["tools", "images", "documents", "localOnly"] as const;

/**
 * The routes in a file: `{"routes": {"NAME": {"models": ["provider/name", …], "needs": {"tools": true, …}}}}`; of a weighted route
 * each model is `{"model": "provider/name", "weight": 3}`. What else it may hold is said in the gateway's README.
 * @param providers the names of those that routes may lead to
 * @throws HlvmError `routes_unreadable`, which names the place
 */
export function readRoutes(path: string, providers: readonly string[]): ReadonlyMap<string, Route> {
  try {
    const file = fieldsOf(JSON.parse(readFileSync(path, "utf8")), "$", ["about", "routes"]);
    const routes = Object.entries(fieldsOf(file.routes, "$.routes"));
    if (routes.length > MOST_ROUTES) throw new Error(`$.routes has more than ${MOST_ROUTES} routes`);
    return new Map(routes.map(([name, value]) => [name, routeOf(name, value, providers)]));
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "routes_unreadable",
      message: `The routes in ${path} cannot be used: ${messageOf(cause)}.`,
      advice: "Correct it, or leave HLVM_ROUTES_FILE empty; services/model-gateway/README.md shows the form.",
      cause,
    });
  }
}

function routeOf(name: string, value: unknown, providers: readonly string[]): Route {
  const where = `$.routes.${name}`;
  if (!NAME.test(name)) throw new Error(`$.routes has ${JSON.stringify(name)}, and a name is of a-z, 0-9, dot, underscore and dash`);
  const { models: listed, needs = {} } = fieldsOf(value, where, ["about", "models", "needs"]);
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MOST_MODELS)
    throw new Error(`${where}.models is no list of 1 to ${MOST_MODELS} models`);
  const models = listed.map((each, index) => modelOf(each, `${where}.models[${index}]`, providers));
  const isWeighted = models[0]!.weight !== undefined;
  const other = models.findIndex(({ weight }) => (weight !== undefined) !== isWeighted);
  if (other !== -1)
    throw new Error(
      `${where}.models[${other}] ${isWeighted ? "has no weight" : "has a weight"}, and the first ${isWeighted ? "has one" : "has none"}`,
    );
  const twice = models.find(({ id }, index) => models.findIndex((each) => each.id === id) !== index);
  if (twice !== undefined) throw new Error(`${where}.models names ${twice.id} twice`);
  return { name, models, needs: needsOf(needs, `${where}.needs`) };
}

function modelOf(value: unknown, where: string, providers: readonly string[]): RoutedModel {
  if (typeof value === "string") return { id: idOf(value, where, providers) };
  const { model, weight } = fieldsOf(value, where, ["model", "weight"]);
  if (typeof weight !== "number" || !Number.isInteger(weight) || weight < 1 || weight > MOST_WEIGHT)
    throw new Error(`${where}.weight is no whole number from 1 to ${MOST_WEIGHT}`);
  return { id: idOf(model, `${where}.model`, providers), weight };
}

function idOf(value: unknown, where: string, providers: readonly string[]): string {
  if (typeof value !== "string" || !/^[^/]+\/./.test(value)) throw new Error(`${where} is not provider/name`);
  const provider = value.split("/", 1)[0]!;
  if (!providers.includes(provider)) throw new Error(`${where} is ${value}, and routes lead to models of ${providers.join(", ")}`);
  return value;
}

function needsOf(value: unknown, where: string): ModelNeeds {
  const fields = fieldsOf(value, where, [...FLAGS, "contextWindow", "inputPrice", "outputPrice"]);
  for (const flag of FLAGS)
    if (fields[flag] !== undefined && typeof fields[flag] !== "boolean") throw new Error(`${where}.${flag} is neither true nor false`);
  const { contextWindow } = fields;
  if (contextWindow !== undefined && (typeof contextWindow !== "number" || !Number.isInteger(contextWindow) || contextWindow < 1))
    throw new Error(`${where}.contextWindow is no number of tokens`);
  return {
    ...(fields as ModelNeeds),
    inputPrice: priceOf(fields.inputPrice, `${where}.inputPrice`),
    outputPrice: priceOf(fields.outputPrice, `${where}.outputPrice`),
  };
}

function priceOf(value: unknown, where: string): bigint | undefined {
  if (value === undefined) return undefined;
  const decimal = typeof value === "string" ? DECIMAL.exec(value) : null;
  if (decimal === null) throw new Error(`${where} is not a text such as "2.50", with at most three places`);
  return BigInt(decimal[1]! + (decimal[2] ?? "").padEnd(3, "0"));
}

function fieldsOf(value: unknown, where: string, known?: readonly string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${where} is no JSON object`);
  const unknown = known && Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${where} has an unknown field ${JSON.stringify(unknown)}`);
  return value as Fields;
}
