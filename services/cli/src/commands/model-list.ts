import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { ModelCapabilitySchema, ModelSchema, ModelService, ModelTierSchema, type Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";

export async function modelList(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { models } = await withMesh(context, (transport) => createClient(ModelService, transport).listModels({}));
  showModels(models, flags);
  return EXIT_OK;
}

export function showModels(models: readonly Model[], flags: { json?: boolean }): void {
  if (flags.json === true) for (const model of models) process.stdout.write(jsonLine(messageJson(ModelSchema, model)));
  else if (models.length > 0)
    process.stdout.write(table(["MODEL", "TIER", "CAN", "TAKES", "CONTEXT", "$ IN/OUT", "STATE"], models.map(row)));
}

/** For a million tokens, as of now. */
function priceText({ prices }: Model): string {
  const now = prices.findLast(({ validFrom }) => validFrom !== undefined && timestampMs(validFrom) <= Date.now());
  if (now?.rates === undefined) return "unknown";
  return [now.rates.input, now.rates.output].map((rate) => String(Number(rate) / 1_000)).join("/");
}

function row(model: Model): string[] {
  const state = model.available ? (model.default ? "default" : "available") : model.advice || "not available";
  const context = model.contextWindow === 0 ? "" : `${Math.round(model.contextWindow / 1000)}K`;
  return [
    model.id,
    enumWord(ModelTierSchema, model.tier),
    enumWord(ModelCapabilitySchema, model.capability),
    ["text", ...(model.takesImages ? ["images"] : []), ...(model.takesDocuments ? ["PDF"] : [])].join(" "),
    context,
    priceText(model),
    state,
  ];
}
