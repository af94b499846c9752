import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { LlamaInstance } from "./llama-instance.ts";

/** What is made of a llama-server that says this of itself. */
async function described(properties: object, meta: object = {}): Promise<string> {
  const models = await modelsOf(properties, meta);
  return models.map(({ tier, capability, contextWindow }) => `${tier} ${capability} ${contextWindow}`).join();
}

async function modelsOf(properties: object, meta: object): Promise<LlamaInstance["models"]> {
  const answers: Record<string, object> = { "/props": properties, "/v1/models": { data: [{ id: "m", meta }] } };
  const server = createServer((request, response) => void response.end(JSON.stringify(answers[request.url ?? ""])));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const instance = new LlamaInstance(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await instance.refresh();
  return instance.models;
}

const LOADING = { error: { code: 503, message: "Loading model", type: "unavailable_error" } };
const window = (tokens: number) => ({ default_generation_settings: { n_ctx: tokens } });

describe("what a llama-server says of itself", () => {
  it("decides on tier and tools by size and window", async () => {
    expect(await described(window(32_768), { n_params: 7e9 })).toBe("weak tool 32768");
    expect(await described(window(4_096), { n_params: 7e9 })).toBe("weak chat 4096");
    expect(await described(window(32_768), { n_params: 70e9 })).toBe("mid agent 32768");
    expect(await described({}, { n_params: 70e9, n_ctx: 16_384 })).toBe("mid agent 16384");
    expect(await described({})).toBe("mid chat 4096");
  });

  it("gives images only to one that says that it sees", async () => {
    const takes = async (properties: object) => (await modelsOf(properties, {})).map(({ takesImages }) => takesImages);
    expect(await takes({ modalities: { vision: true, audio: false } })).toEqual([true]);
    expect(await takes({ modalities: { vision: false } })).toEqual([false]);
    expect(await takes({})).toEqual([false]);
  });

  it("hands no tools to a model whose template leaves them out", async () => {
    const plain = { ...window(32_768), chat_template: "{% for message in messages %}{{ message.content }}{% endfor %}" };
    expect(await described(plain, { n_params: 7e9 })).toBe("weak chat 32768");
    expect(await described({ ...plain, chat_template: "{% if tools %}{{ tools | tojson }}{% endif %}" }, { n_params: 7e9 })).toBe(
      "weak tool 32768",
    );
    // What a newer server says itself counts more than how its template reads.
    expect(await described({ ...plain, chat_template_caps: { supports_tools: true } }, { n_params: 7e9 })).toBe("weak tool 32768");
  });

  it("is starting while it loads its model, and not ill", async () => {
    let isLoading = true;
    const server = createServer((request, response) => {
      const answers: Record<string, object> = { "/health": {}, "/props": { total_slots: 3 }, "/v1/models": { data: [{ id: "m" }] } };
      response.writeHead(isLoading ? 503 : 200).end(JSON.stringify(isLoading ? LOADING : answers[request.url ?? ""]));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const instance = new LlamaInstance(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await instance.refresh();
    expect(instance).toMatchObject({ isStarting: true, isOpen: false, lastError: "", failure: { reason: "server_starting" } });
    isLoading = false;
    instance.doubt();
    await instance.refresh();
    expect(instance).toMatchObject({ isStarting: false, isOpen: true, slots: 3 });
  });

  it("is asked again where it ends a connection just as it is used", async () => {
    let questions = 0;
    const server = createServer((request, response) => {
      if (++questions <= 2) request.socket.destroy();
      else response.end(JSON.stringify(request.url === "/props" ? { total_slots: 3 } : { data: [{ id: "m" }] }));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const instance = new LlamaInstance(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await instance.refresh();
    expect([instance.failure, instance.slots]).toEqual([undefined, 3]);
  });
});
