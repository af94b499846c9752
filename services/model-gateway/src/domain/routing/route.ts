import type { ModelNeeds } from "./model-needs.ts";

export const AUTO = "auto";
const PREFIX = "route/";

/** Models that may answer, the first of which that fits does, or one drawn by weight; the others in its place where it fails hard. */
export interface Route {
  readonly name: string;
  readonly models: readonly RoutedModel[];
  readonly needs: ModelNeeds;
}

export interface RoutedModel {
  /** `provider/name`. */
  readonly id: string;
  /** Undefined in an ordered route. */
  readonly weight?: number;
}

/** The route's name in what stands in the place of a model; undefined where that is a model, or `auto`. */
export function routeName(model: string): string | undefined {
  return model.startsWith(PREFIX) ? model.slice(PREFIX.length) : undefined;
}

/** What stands in the place of a model for a route. */
export function routedModel(name: string): string {
  return `${PREFIX}${name}`;
}

/** Whether it is no model, but stands for one. */
export function isRouted(model: string): boolean {
  return model === AUTO || routeName(model) !== undefined;
}
