import { createClient } from "@connectrpc/connect";
import { messageJson } from "@hlvm/ndjson/message-json";
import {
  ExplainRouteResponseSchema,
  ModelService,
  type ExplainRouteResponse,
  type RouteCandidate,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

const LONGEST_TASK = 16_384;

/** What `hlvm ask` would choose: a model that can be handed tools. The exit code is 1 where there is none. */
export async function modelExplain(
  task: string,
  flags: { readonly route?: string; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const route = flags.route === undefined ? "auto" : `route/${flags.route}`;
  const asked = { route, task: task.slice(0, LONGEST_TASK), needs: { tools: true } };
  const explained = await withMesh(context, (transport) => createClient(ModelService, transport).explainRoute(asked));
  const text = flags.json === true ? jsonLine(messageJson(ExplainRouteResponseSchema, explained)) : explanation(explained);
  process.stdout.write(text);
  return explained.candidates.length > 0 ? EXIT_OK : EXIT_FAILED;
}

function explanation({ route, candidates, filtered, words }: ExplainRouteResponse): string {
  const [first, ...others] = candidates;
  const isWeighted = candidates.some(({ share }) => share > 0);
  const parts = first?.parts ?? [];
  const columns = [...(parts.length > 0 ? ["SCORE", ...parts.map(({ name }) => heading(name))] : []), ...(isWeighted ? ["SHARE"] : [])];
  const rowOf = ({ model, score, parts: own, share }: RouteCandidate): string[] => [
    model,
    ...(own.length > 0
      ? [score.toFixed(2), ...own.map(({ value, weight }) => (weight === 0 ? "-" : `${value.toFixed(2)}x${weight}`))]
      : []),
    ...(isWeighted ? [`${Math.round(share * 100)}%`] : []),
  ];
  const taken = isWeighted ? `${route} draws one of these.` : `${route} takes ${first?.model}.`;
  return [
    first === undefined
      ? `${route} finds no model that fits.\n`
      : `${taken}${others.length > 0 && !isWeighted ? " Where it fails, the next answers." : ""}\n`,
    words.length === 0 ? "" : `Words that count: ${words.map(({ word, part }) => `${word} (${plain(part)})`).join(", ")}.\n`,
    first === undefined ? "" : `\n${table(["MODEL", ...columns], candidates.map(rowOf))}`,
    filtered.length === 0
      ? ""
      : `\n${table(
          ["LEFT OUT", "REASON", "WHY"],
          filtered.map(({ model, reason, why }) => [model, reason, why]),
        )}`,
  ].join("");
}

function heading(part: string): string {
  return plain(part).toUpperCase();
}

function plain(part: string): string {
  return part.replaceAll("_", " ");
}
