import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { ModelSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { permittedModel } from "./permitted-model.ts";

const { signal } = new AbortController();

/** What becomes of a name, and for which names the gateway was asked. */
async function resolved(name: string, allowedModels: readonly string[], chosen = "anthropic/claude-opus-5") {
  const asked: string[] = [];
  const resolve = (wanted: string) => {
    asked.push(wanted);
    return Promise.resolve(create(ModelSchema, { id: wanted === "auto" || wanted.startsWith("route/") ? chosen : wanted }));
  };
  const caller = { provider: "anthropic", access: { tokenId: "t", allowedModels: [...allowedModels] } };
  const model = await permittedModel(name, caller, { resolve }, signal).then(
    ({ id }) => id,
    (thrown: unknown) => (thrown as { reason: string }).reason,
  );
  return { asked, model };
}

it("is the door's own provider's where its name has none, and refused before anybody is asked for it", async () => {
  expect(await resolved("claude-opus-5", [])).toEqual({ asked: ["anthropic/claude-opus-5"], model: "anthropic/claude-opus-5" });
  expect(await resolved("openai/gpt-5.5", ["anthropic/*"])).toEqual({ asked: [], model: "model_not_permitted" });
});

it.each(["auto", "route/fast"])("is what the gateway chooses for %s, where the token is for that", async (name) => {
  expect(await resolved(name, ["anthropic/*"])).toEqual({ asked: [name], model: "anthropic/claude-opus-5" });
  expect((await resolved(name, ["openai/*"])).model).toBe("model_not_permitted");
});
