import { execFile } from "node:child_process";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { Exchange } from "./exchange.ts";
import { readRefusal } from "./read-refusal.ts";
import { sendHttp } from "./send-http.ts";
import { beginStream, ReplayServer } from "./suite/replay-server.ts";

const MEBIBYTE = 1024 * 1024;
const server = new ReplayServer();
const never = new AbortController().signal;
const exchanges: Exchange[] = [];
let url: string;

beforeAll(async () => {
  url = await server.start();
});
afterEach(() => exchanges.splice(0).forEach((exchange) => exchange.close()));
afterAll(() => server.stop());

function exchangeFor(caller: AbortSignal): Exchange {
  const exchange = new Exchange("p", caller, () => undefined);
  exchanges.push(exchange);
  return exchange;
}

function send(caller = never) {
  return sendHttp(exchangeFor(caller), `${url}/v1/x?y=1`, { method: "POST", headers: { "x-own": "1" }, body: "grüße" });
}

it("sends what it is given, and gives status, headers and text", async () => {
  server.play((response) => void response.writeHead(418, { "X-Some": "thing" }).end("ja, grüße"));
  const answer = await send();
  expect([answer.status, answer.headers.get("x-some"), answer.headers.get("x-other")]).toEqual([418, "thing", null]);
  expect(await answer.text()).toBe("ja, grüße");
  expect(server.requests).toMatchObject([{ path: "/v1/x", body: "grüße", headers: { "x-own": "1", "content-length": "7" } }]);
});

it("destroys the connection when the caller leaves before there are headers", async () => {
  const arrived = Promise.withResolvers<void>();
  server.play(() => arrived.resolve());
  const cancelled = new AbortController();
  const ended = send(cancelled.signal).catch((thrown: unknown) => thrown);
  await arrived.promise;
  cancelled.abort(new Error("gone"));
  await server.requests[0]?.gone;
  expect(await ended).toMatchObject({ message: "gone" });
});

it("sends nothing for a caller that has left", async () => {
  server.play((response) => void response.end());
  await expect(send(AbortSignal.abort(new Error("gone")))).rejects.toMatchObject({ class: "abort", reason: "cancelled" });
  expect(server.requests).toEqual([]);
});

it("does not follow a redirect, and says so without the secrets of the address", async () => {
  server.play((response) => void response.writeHead(307, { location: "https://elsewhere.example/v1?key=secret" }).end("moved"));
  expect(await readRefusal("p", await send())).toMatchObject({
    class: "permanent",
    reason: "redirected",
    message: "p redirects to https://elsewhere.example/v1 (HTTP 307).",
  });
  expect(server.requests.length).toBe(1);
});

it("reads no more than 8 MiB of a body that never ends, and gives its connection up", async () => {
  server.play((response) => {
    beginStream(response);
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(MEBIBYTE)));
    };
    response.on("drain", more);
    more();
  });
  const text = await (await send()).text();
  expect(text.length).toBe(8 * MEBIBYTE);
  // The server may see it as an error: it was still writing.
  await Promise.allSettled([server.requests[0]?.gone]);
});

it("signs in with the name and password of an address, unless it is given another authorization", async () => {
  server.play((response) => void response.end());
  const address = url.replace("http://", "http://ada:p%40ss@");
  const given: Record<string, string>[] = [{}, { authorization: "Bearer own" }];
  for (const headers of given) await (await sendHttp(exchangeFor(never), address, { method: "GET", headers })).text();
  const basic = `Basic ${Buffer.from("ada:p@ss").toString("base64")}`;
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([basic, "Bearer own"]);
});

it("uses a kept connection again, and one of its own for this answer alone", async () => {
  const ports: (number | undefined)[] = [];
  server.play((response) => void response.end(String(ports.push(response.socket?.remotePort))));
  const ask = async (more: { connection?: "own" }) => {
    const text = await (await sendHttp(exchangeFor(never), url, { method: "GET", headers: {}, ...more })).text();
    // undici looks for a turn of the event loop whether the server closes it all the same.
    await nextTurn();
    return text;
  };
  const answers = [await ask({}), await ask({}), await ask({ connection: "own" }), await ask({ connection: "own" })];
  expect(answers).toEqual(["1", "2", "3", "4"]);
  expect(ports[1]).toBe(ports[0]);
  expect(new Set(ports).size).toBe(3);
  await Promise.all(server.requests.slice(2).map(({ gone }) => gone));
});

it("refuses what would be a header of its own before anything is sent", async () => {
  server.play((response) => void response.end());
  const sent = sendHttp(exchangeFor(never), url, { method: "GET", headers: { authorization: "Bearer a\r\nx-admin: yes" } });
  await expect(sent).rejects.toThrow(/invalid authorization header/);
  expect(server.requests).toEqual([]);
});

it("tells an answer that was cut from one that ended", async () => {
  server.play((response) => {
    response.writeHead(200, { "content-length": "10" }).write("five.");
    setImmediate(() => response.destroy());
  });
  const exchange = exchangeFor(never);
  const cut = sendHttp(exchange, url, { method: "GET", headers: {} }).then((answer) => answer.text());
  await expect(cut.catch((thrown: unknown) => exchange.failure(thrown))).resolves.toMatchObject({
    class: "transient",
    reason: "connection_lost",
  });
});

it.each([
  ["a kept connection", "{}"],
  ["a connection of its own", '{ connection: "own" }'],
])("goes through the proxy of the environment where Node is told to, on %s", async (_what, options) => {
  server.play((response) => void response.end("from the proxy"));
  const program = `
    const { sendHttp } = await import(${JSON.stringify(fileURLToPath(new URL("send-http.ts", import.meta.url)))});
    const { Exchange } = await import(${JSON.stringify(fileURLToPath(new URL("exchange.ts", import.meta.url)))});
    const exchange = new Exchange("p", new AbortController().signal, () => undefined);
    const answer = await sendHttp(exchange, "http://model.invalid/v1/models", { method: "GET", headers: {}, ...${options} });
    process.stdout.write(await answer.text());
    exchange.close();
  `;
  const env = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: url };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { env, timeout: 20_000 });
  expect(stdout).toBe("from the proxy");
  expect(server.requests[0]?.headers.host).toBe("model.invalid");
});
