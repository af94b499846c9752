import type { ModelNeeds as WireNeeds } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ModelNeeds } from "../domain/routing/model-needs.ts";

export function decodeNeeds(needs: WireNeeds | undefined): ModelNeeds {
  return needs === undefined ? {} : { ...needs };
}
