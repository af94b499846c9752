import { describe, expect, it, onTestFinished } from "vitest";
import {
  ModelService,
  type ExplainRouteRequest,
  type ExplainRouteResponseSchema,
  type ListModelsResponseSchema,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { testLog } from "@hlvm/testing/test-log";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";

async function modelsOf(
  explained: MessageInitShape<typeof ExplainRouteResponseSchema>,
  listed: MessageInitShape<typeof ListModelsResponseSchema> = {},
): Promise<{ readonly edgeUrl: string; readonly asked: ExplainRouteRequest[] }> {
  const asked: ExplainRouteRequest[] = [];
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: (router) =>
      void router.service(ModelService, {
        listModels: () => listed,
        explainRoute: (request) => {
          asked.push(request);
          return explained;
        },
      }),
    services: [ModelService.typeName],
    authenticate: (next) => next,
  });
  onTestFinished(() => server.close());
  return { edgeUrl: `http://127.0.0.1:${server.port}`, asked };
}

const parts = [
  { name: "coding", value: 0.98, weight: 3 },
  { name: "long_context", value: 1, weight: 0 },
];
const explained = {
  route: "auto",
  candidates: [
    { model: "a/best", score: 0.8, parts },
    { model: "b/next", score: 0.512, parts },
  ],
  filtered: [{ model: "c/far", reason: "not_local", why: "does not run on this machine" }],
  words: [{ word: "json", part: "structured_output" }],
};

describe("hlvm model explain", () => {
  it("says what is taken, what answers in its place, what counted and what was left out", async () => {
    const { edgeUrl, asked } = await modelsOf(explained);
    const [shown, json] = [
      runHlvm(["model", "explain", "write", "json"], { edgeUrl }),
      runHlvm(["model", "explain", "write json", "--json"], { edgeUrl }),
    ];
    expect(await shown.ended).toBe(0);
    expect(shown.stdout).toBe(
      [
        "auto takes a/best. Where it fails, the next answers.",
        "Words that count: json (structured output).",
        "",
        "MODEL   SCORE  CODING  LONG CONTEXT",
        "a/best  0.80   0.98x3  -",
        "b/next  0.51   0.98x3  -",
        "",
        "LEFT OUT  REASON     WHY",
        "c/far     not_local  does not run on this machine",
        "",
      ].join("\n"),
    );
    expect(await json.ended).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      route: "auto",
      candidates: [{ model: "a/best", score: 0.8 }, {}],
      words: [{ word: "json" }],
    });
    expect(asked).toMatchObject([{ route: "auto", task: "write json", needs: { tools: true } }, {}]);
  });

  it("explains a route, drawn by weight, and fails where nothing fits", async () => {
    const weighted = {
      route: "route/split",
      candidates: [
        { model: "a/x", share: 0.75 },
        { model: "b/y", share: 0.25 },
      ],
    };
    const drawn = await modelsOf(weighted);
    const shown = runHlvm(["model", "explain", "--route", "split", "x"], drawn);
    expect(await shown.ended).toBe(0);
    expect(shown.stdout).toMatch(/^route\/split draws one of these\.\n\nMODEL +SHARE\na\/x +75%\nb\/y +25%\n$/);
    expect(drawn.asked).toMatchObject([{ route: "route/split" }]);
    const none = runHlvm(["model", "explain", "x"], await modelsOf({ route: "auto", filtered: explained.filtered }));
    expect(await none.ended).toBe(1);
    expect(none.stdout).toContain("auto finds no model that fits.");
  });
});

describe("hlvm ollama", () => {
  it("lists what an Ollama has and nothing else, or says what to set", async () => {
    const models = [
      { id: "ollama/small", provider: "ollama", available: true },
      { id: "a/best", provider: "a", available: true },
    ];
    const shown = runHlvm(["ollama", "list"], await modelsOf({}, { models }));
    expect(await shown.ended).toBe(0);
    expect(shown.stdout).toContain("ollama/small");
    expect(shown.stdout).not.toContain("a/best");
    const none = runHlvm(["ollama", "list"], await modelsOf({}, { models: models.slice(1) }));
    expect(await none.ended).toBe(1);
    expect(none.stderr).toContain("HLVM_OLLAMA_URL");
  });

  it("asks one of its models, with the flags of hlvm ask", async () => {
    const edge = await edgeWith(async (it) => it.stop(StopReason.COMPLETED, { text: "hi" }));
    const asked = runHlvm(["ollama", "ask", "small:3b", "--json", "-p", "say", "hi"], { edgeUrl: edge.url });
    expect(await asked.ended).toBe(0);
    expect(edge.requests).toMatchObject([{ model: "ollama/small:3b", prompt: "say hi" }]);
    expect(asked.stdout.trim().split("\n").at(-1)).toContain('"type":"final"');
  });
});
