import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerChat, FakeLlama } from "@hlvm/service-model-gateway/src/testing/fake-llama.ts";

const PROPERTIES = { total_slots: 4, default_generation_settings: { n_ctx: 32_768 }, chat_template_caps: { supports_tools: true } };
/** The mesh's default stays what it is without servers. */
const DEFAULT_MODEL = "demo/rules";

/** Two llama-servers with four slots each, which hold every answer until they are told to give it, a route over them, and a provider with a key. */
export interface PagePool {
  readonly servers: readonly [FakeLlama, FakeLlama];
  /** A provider that wants a key. */
  readonly hosted: FakeLlama;
  /** What a mesh is started with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => void;
}

export async function startPagePool(): Promise<PagePool> {
  const servers = [serverWith("held"), serverWith("other")] as const;
  const hosted = new FakeLlama({});
  hosted.onChat = answerChat;
  const hostedUrl = await hosted.start();
  const urls = await Promise.all(servers.map((server) => server.start()));
  const folder = mkdtempSync(join(tmpdir(), "hlvm-routes-"));
  const routesFile = join(folder, "routes.json");
  const models = [
    { model: "scripted/script", weight: 3 },
    { model: "demo/rules", weight: 1 },
  ];
  writeFileSync(routesFile, JSON.stringify({ routes: { stable: { models: ["llama/held", "scripted/script"] }, canary: { models } } }));
  const pricesFile = join(folder, "prices.json");
  const price = { model: "openai-compatible/m", from: "2026-01-01", source: "test", input: "1", output: "2" };
  writeFileSync(pricesFile, JSON.stringify({ prices: [price] }));
  return {
    servers,
    hosted,
    environment: {
      HLVM_LLAMA_URLS: urls.join(","),
      HLVM_ROUTES_FILE: routesFile,
      HLVM_PRICES_FILE: pricesFile,
      HLVM_MODEL: DEFAULT_MODEL,
      HLVM_OPENAI_COMPATIBLE_URL: `${hostedUrl}/v1`,
    },
    stop: () => {
      for (const server of [...servers, hosted]) server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

function serverWith(model: string): FakeLlama {
  const server = new FakeLlama({ "/props": PROPERTIES, "/v1/models": { data: [{ id: model }] } });
  // What a gateway asks on its own account, to see whether the server mixes conversations up, has no answer.
  server.onChat = ({ body, response }) => {
    if (body.stream !== true) response.writeHead(500).end("{}");
  };
  return server;
}
