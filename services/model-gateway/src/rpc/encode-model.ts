import { create } from "@bufbuild/protobuf";
import { ModelCapability, ModelSchema, ModelTier, type Model as WireModel } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Model } from "../domain/model.ts";

const TIERS: Readonly<Record<Model["tier"], ModelTier>> = { weak: ModelTier.WEAK, mid: ModelTier.MID, frontier: ModelTier.FRONTIER };
const CAPABILITIES: Readonly<Record<Model["capability"], ModelCapability>> = {
  chat: ModelCapability.CHAT,
  tool: ModelCapability.TOOL,
  agent: ModelCapability.AGENT,
};

export function encodeModel(model: Model): WireModel {
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
    takesImages: model.takesImages === true,
    takesDocuments: model.takesDocuments === true,
  });
}
