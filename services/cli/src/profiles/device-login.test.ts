import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { deviceLogin } from "./device-login.ts";

const CODE = { device_code: "d", user_code: "ABCD-EFGH", verification_uri: "http://edge/device", interval: "0.01" };
const never = new AbortController().signal;
/** What the edge does at each question for the token; the last one stays. */
let answers: ((response: ServerResponse) => void)[];
let asked: number;

const server = createServer((request, response) => {
  if (request.url === "/auth/device") return void response.end(JSON.stringify(CODE));
  const answer = answers[Math.min(asked++, answers.length - 1)]!;
  answer(response);
});
const says = (status: number, body: object) => (response: ServerResponse) => void response.writeHead(status).end(JSON.stringify(body));
const waits = says(202, {});
const breaksOff = (response: ServerResponse): void => void response.socket?.destroy();
const isOver = says(400, { error: { reason: "device_over", message: "The code is used up.", advice: "" } });

beforeEach(async () => {
  asked = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

const login = () =>
  deviceLogin(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), () => undefined, never).catch(
    (thrown: unknown) => thrown,
  );

it("waits for the person, also where the edge does not answer for a moment", async () => {
  answers = [waits, breaksOff, says(503, {}), waits, breaksOff, says(200, { token: "t" })];
  expect(await login()).toEqual({ token: "t" });
  expect(asked).toBe(6);
});

it("ends where the edge does not answer any more, and at once where it says no", async () => {
  answers = [breaksOff];
  expect(await login()).toMatchObject({ reason: "edge_unavailable" });
  expect(asked).toBe(6);
  asked = 0;
  answers = [waits, isOver];
  expect(await login()).toMatchObject({ reason: "device_over", message: "The code is used up." });
  expect(asked).toBe(2);
});
