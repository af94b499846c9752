import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { startLlamaServer } from "@hlvm/testing/llama-server";
import { OpenAiEmbedder } from "./openai-embedder.ts";

const within = (milliseconds: number): AbortSignal => AbortSignal.timeout(milliseconds);

/** An embedder whose server answers so, until the test is over. */
async function embedderOf(answer: RequestListener): Promise<OpenAiEmbedder> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new OpenAiEmbedder({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, model: "m", key: "k" });
}
const answering = (status: number, body: string): Promise<OpenAiEmbedder> =>
  embedderOf((_request, response) => response.writeHead(status).end(body));

describe("a real llama-server", () => {
  it("gives one vector for each text, the same one each time, and refuses what is longer than its batch", async ({ skip }) => {
    const server = await startLlamaServer(1, {
      flags: ["--embeddings", "--pooling", "mean", "--ubatch-size", "128", "--batch-size", "128"],
    });
    if ("unavailable" in server) return skip(server.unavailable);
    onTestFinished(server.stop);
    const embedder = new OpenAiEmbedder({ url: `${server.url}/v1`, model: server.model, key: "" });
    const [one, other, again] = await embedder.embed(["The build is slow", "Lunch is at noon", "The build is slow"], within(10_000));
    expect(one!.length).toBeGreaterThan(8);
    expect(other).toHaveLength(one!.length);
    expect(again!.every((value, at) => Math.abs(value - one![at]!) < 1e-3)).toBe(true);
    expect(other).not.toEqual(one);
    await expect(embedder.embed(["long ".repeat(100)], within(10_000))).rejects.toMatchObject({ reason: "embeddings_refused" });
    expect(await embedder.embed(["short"], within(10_000))).toHaveLength(1);
  }, 60_000);
});

describe("a server", () => {
  it("is given the model, the texts and the key", async () => {
    let heard: unknown;
    const embedder = await embedderOf((request, response) => {
      const { url: path, headers } = request;
      void json(request).then((body) => (heard = { path, authorization: headers.authorization, ...(body as object) }));
      request.once("end", () => response.end(JSON.stringify({ data: [1, 0].map((index) => ({ index, embedding: [index, 2] })) })));
    });
    expect(await embedder.embed(["a", "b"], within(5_000))).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(heard).toEqual({ path: "/v1/embeddings", authorization: "Bearer k", model: "m", input: ["a", "b"], encoding_format: "float" });
  });

  it.each([
    ["a page", 200, "<html>Sign in</html>"],
    ["too few vectors", 200, '{"data":[{"embedding":[1]}]}'],
    ["words for numbers", 200, '{"data":[{"embedding":["1"]},{"embedding":["2"]}]}'],
    ["vectors of two lengths", 200, '{"data":[{"embedding":[1]},{"embedding":[1,2]}]}'],
    ["empty vectors", 200, '{"data":[{"embedding":[]},{"embedding":[]}]}'],
    ["an index beyond the texts", 200, '{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}'],
    ["null", 200, "null"],
    ["an unknown key", 401, "{}"],
    ["an unknown model", 404, "{}"],
    ["too many requests", 429, "{}"],
  ])("that answers with %s gives none", async (_what, status, body) => {
    await expect((await answering(status, body)).embed(["a", "b"], within(5_000))).rejects.toMatchObject({
      reason: "embeddings_unavailable",
    });
  });

  it("that takes a text for none says so of these texts, and is asked for the next ones at once", async () => {
    const embedder = await answering(400, '{"error":"no"}');
    for (const text of ["a", "b"])
      await expect(embedder.embed([text], within(5_000))).rejects.toMatchObject({ reason: "embeddings_refused" });
  });

  it("that has failed or takes too long is left alone for a while, and one that was merely not waited for is not", async () => {
    let requests = 0;
    const silent = await embedderOf(() => requests++);
    const gone = new AbortController();
    const left = silent.embed(["a"], gone.signal);
    await expect.poll(() => requests).toBe(1);
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow();
    await expect(silent.embed(["a"], within(50))).rejects.toMatchObject({ reason: "embeddings_unavailable" });
    expect(requests).toBe(2);
    await expect(silent.embed(["a"], within(5_000))).rejects.toMatchObject({ reason: "embeddings_unavailable" });
    expect(requests).toBe(2);
  });

  it("is not followed elsewhere, since texts would go there", async () => {
    let elsewhere = 0;
    const other = createServer((_request, response) => (elsewhere++, response.end("{}"))).listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    const embedder = await embedderOf((_request, response) => response.writeHead(307, { location }).end());
    await expect(embedder.embed(["a"], within(5_000))).rejects.toMatchObject({ reason: "embeddings_unavailable" });
    expect(elsewhere).toBe(0);
  });
});
