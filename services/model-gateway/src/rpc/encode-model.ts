import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ModelCapability,
  ModelPriceSchema,
  ModelSchema,
  ModelTier,
  type Model as WireModel,
  type ModelPrice as WirePrice,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Model } from "../domain/model.ts";
import type { ModelPrice, PriceTable } from "../domain/price-table.ts";

const TIERS: Readonly<Record<Model["tier"], ModelTier>> = { weak: ModelTier.WEAK, mid: ModelTier.MID, frontier: ModelTier.FRONTIER };
const CAPABILITIES: Readonly<Record<Model["capability"], ModelCapability>> = {
  chat: ModelCapability.CHAT,
  tool: ModelCapability.TOOL,
  agent: ModelCapability.AGENT,
};

export function encodeModel(model: Model, prices: PriceTable): WireModel {
  return create(ModelSchema, {
    id: model.id,
    provider: model.provider,
    name: model.name,
    tier: TIERS[model.tier],
    capability: CAPABILITIES[model.capability],
    contextWindow: model.contextWindow,
    default: model.isDefault,
    available: model.isAvailable,
    advice: model.advice,
    prices: prices.pricesOf(model.id).map(encodePrice),
    takesImages: model.takesImages === true,
    takesDocuments: model.takesDocuments === true,
    guessed: model.isGuess === true,
  });
}

function encodePrice({ validFrom, rates, longInput }: ModelPrice): WirePrice {
  return create(ModelPriceSchema, {
    validFrom: timestampFromDate(validFrom),
    rates,
    longInputTokens: BigInt(longInput?.above ?? 0),
    longInputRates: longInput?.rates,
  });
}
