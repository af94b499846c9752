import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeLlama } from "@hlvm/service-model-gateway/src/testing/fake-llama.ts";

const PROPERTIES = { total_slots: 4, default_generation_settings: { n_ctx: 32_768 }, chat_template_caps: { supports_tools: true } };
/** The mesh's default stays what it is without servers. */
const DEFAULT_MODEL = "demo/rules";

/** Two llama-servers with four slots each, which hold every answer until they are told to give it, and a route over them. */
export interface PagePool {
  readonly servers: readonly [FakeLlama, FakeLlama];
  /** What a mesh is started with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => void;
}

export async function startPagePool(): Promise<PagePool> {
  const servers = [serverWith("held"), serverWith("other")] as const;
  const urls = await Promise.all(servers.map((server) => server.start()));
  const folder = mkdtempSync(join(tmpdir(), "hlvm-routes-"));
  const routesFile = join(folder, "routes.json");
  const models = [
    { model: "scripted/script", weight: 3 },
    { model: "demo/rules", weight: 1 },
  ];
  writeFileSync(routesFile, JSON.stringify({ routes: { stable: { models: ["llama/held", "scripted/script"] }, canary: { models } } }));
  return {
    servers,
    environment: { HLVM_LLAMA_URLS: urls.join(","), HLVM_ROUTES_FILE: routesFile, HLVM_MODEL: DEFAULT_MODEL },
    stop: () => {
      for (const server of servers) server.stop();
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
