import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ModelAccess } from "@hlvm/identity/delegation";
import { fitsModel } from "@hlvm/identity/fits-model";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { DoorCaller } from "./call-record.ts";
import type { DoorModels } from "./door-models.ts";

/** What the gateway chooses a model for. */
const AUTO = "auto";
const ROUTE = "route/";

/**
 * The concrete model behind the name that a program gave, where its token is for it. A name without a provider is one of the
 * door's own provider: `claude-opus-4-8` at Anthropic's is `anthropic/claude-opus-4-8`.
 * @throws HlvmError `model_not_permitted`, before anybody is asked for the model, and what resolving throws
 */
export async function permittedModel(
  name: string,
  { provider, access }: Pick<DoorCaller, "provider" | "access">,
  models: Pick<DoorModels, "resolve">,
  signal: AbortSignal,
): Promise<Model> {
  const isChosen = name === AUTO || name.startsWith(ROUTE);
  const wanted = isChosen || name.includes("/") ? name : `${provider}/${name}`;
  // What is chosen is looked at once it is known.
  if (!isChosen) demandPermitted(wanted, access);
  const model = await models.resolve(wanted, signal);
  if (model.id !== wanted) demandPermitted(model.id, access);
  return model;
}

function demandPermitted(model: string, { allowedModels }: ModelAccess): void {
  if (allowedModels.length === 0 || allowedModels.some((pattern) => fitsModel(model, pattern))) return;
  throw new HlvmError({
    code: "permission_denied",
    reason: "model_not_permitted",
    message: `This token is not for the model ${model}.`,
    advice: `It is for ${allowedModels.join(", ")}. Take one of those, or another token: \`hlvm token create LABEL --scope model --models …\`.`,
  });
}
