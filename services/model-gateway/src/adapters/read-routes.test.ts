import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readRoutes } from "./read-routes.ts";

const folder = mkdtempSync(join(tmpdir(), "hlvm-routes-"));
afterAll(() => rmSync(folder, { recursive: true }));

function read(content: unknown): ReturnType<typeof readRoutes> {
  const path = join(folder, "routes.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return readRoutes(path, ["anthropic", "local"]);
}
const models = ["anthropic/a", "local//models/b.gguf"];
const needs = { tools: true, localOnly: false, contextWindow: 100_000, outputPrice: "2.5" };

it("reads ordered and weighted routes", () => {
  const weighted = [
    { model: "anthropic/a", weight: 3 },
    { model: "local/b", weight: 1 },
  ];
  expect([...read({ routes: { fast: { models, needs }, split: { about: "for tests", models: weighted } } }).values()]).toEqual([
    {
      name: "fast",
      models: [{ id: "anthropic/a" }, { id: "local//models/b.gguf" }],
      needs: { ...needs, outputPrice: 2_500n, inputPrice: undefined },
    },
    {
      name: "split",
      models: [
        { id: "anthropic/a", weight: 3 },
        { id: "local/b", weight: 1 },
      ],
      needs: {},
    },
  ]);
});

it.each([
  ["{", "JSON"],
  [[], "$ is no JSON object"],
  [{ route: {} }, '$ has an unknown field "route"'],
  [{}, "$.routes is no JSON object"],
  [{ routes: { "A b": { models } } }, '"A b", and a name is of'],
  [{ routes: { r: { models: [] } } }, "$.routes.r.models is no list of 1 to 32"],
  [{ routes: { r: { models: ["gpt"] } } }, "$.routes.r.models[0] is not provider/name"],
  [
    { routes: { r: { models: ["anthropic/a", "ollama/x"] } } },
    "$.routes.r.models[1] is ollama/x, and routes lead to models of anthropic, local",
  ],
  [{ routes: { r: { models: ["route/x"] } } }, "$.routes.r.models[0] is route/x"],
  [{ routes: { r: { models: ["anthropic/a", "anthropic/a"] } } }, "$.routes.r.models names anthropic/a twice"],
  [{ routes: { r: { models: [{ model: "anthropic/a", weight: 0 }] } } }, "$.routes.r.models[0].weight is no whole number"],
  [{ routes: { r: { models: [{ model: "anthropic/a", weight: 1 }, "local/b"] } } }, "$.routes.r.models[1] has no weight"],
  [{ routes: { r: { models, fallback: true } } }, '$.routes.r has an unknown field "fallback"'],
  [{ routes: { r: { models, needs: { tools: "yes" } } } }, "$.routes.r.needs.tools is neither true nor false"],
  [{ routes: { r: { models, needs: { contextWindow: 1.5 } } } }, "$.routes.r.needs.contextWindow is no number"],
  [{ routes: { r: { models, needs: { inputPrice: 2 } } } }, "$.routes.r.needs.inputPrice is not a text"],
])("refuses %j and names the place", (content, words) => {
  expect(() => read(content)).toThrow(expect.objectContaining({ reason: "routes_unreadable", message: expect.stringContaining(words) }));
});

it("refuses a file that is not there", () => {
  expect(() => readRoutes(join(folder, "none.json"), [])).toThrow(expect.objectContaining({ reason: "routes_unreadable" }));
});
