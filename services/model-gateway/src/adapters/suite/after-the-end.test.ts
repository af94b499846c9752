import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Provider } from "../../domain/provider.ts";
import { ask, generationOf, said, textIn } from "./generations.ts";
import { frame, protocols } from "./protocols.ts";
import { beginStream, readFixture, ReplayServer } from "./replay-server.ts";

const SILENCE_MILLISECONDS = 2_000;

describe.each(protocols)("$provider", (protocol) => {
  const server = new ReplayServer(protocol.fixed);
  const generation = generationOf(protocol.model, [said("user", "Hello?")]);
  const body = readFixture(protocol.folder, "text").map(frame).join("");
  let url = "";
  let provider: Provider;

  beforeAll(async () => {
    url = await server.start();
    provider = protocol.create(url, SILENCE_MILLISECONDS);
  });
  afterAll(() => server.stop());
  afterEach(() => vi.unstubAllEnvs());

  it("has its whole answer where the server keeps the connection open after the end", async () => {
    server.play((response) => void beginStream(response).write(body + protocol.closing));
    const deltas = await ask(provider, generation);
    expect(textIn(deltas)).toMatch(/^Hello, world\./);
    expect(deltas.at(-1)).toMatchObject({ kind: "finish", reason: "stop" });
  });

  it("has its whole answer where the server breaks the connection right after the end", async () => {
    server.play((response) => void beginStream(response).write(body + protocol.closing, () => response.destroy()));
    expect((await ask(provider, generation)).at(-1)).toMatchObject({ kind: "finish", reason: "stop" });
  });

  it("sends nothing that the environment has for its SDK", async () => {
    const headers = "x-leaked: secret\nauthorization: Bearer secret\nx-api-key: secret";
    for (const name of ["ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS"]) vi.stubEnv(name, headers);
    for (const name of ["ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"]) vi.stubEnv(name, "secret");
    server.play((response) => void beginStream(response).end(body + protocol.closing));
    await ask(protocol.create(url), generation);
    expect(JSON.stringify(server.requests[0]!.headers)).not.toContain("secret");
  });
});
