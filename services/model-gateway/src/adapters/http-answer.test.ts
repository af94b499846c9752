import { afterEach, expect, it, vi } from "vitest";
import { Exchange } from "./exchange.ts";
import { HttpAnswer } from "./http-answer.ts";

/** What undici hands an answer's parts over with. */
function newController() {
  const controller = {
    paused: false,
    aborted: false,
    reason: null as Error | null,
    pause: () => void (controller.paused = true),
    resume: () => void (controller.paused = false),
    abort: (reason: Error) => void Object.assign(controller, { aborted: true, reason }),
  };
  return controller;
}

function newAnswer() {
  const caller = new AbortController();
  const exchange = new Exchange("p", caller.signal, () => undefined);
  return { caller, exchange, answer: new HttpAnswer(exchange), controller: newController() };
}

afterEach(() => void vi.useRealTimers());

it("makes a peer wait that sends faster than it is read, and goes on once it was read", async () => {
  const { exchange, answer, controller } = newAnswer();
  answer.onRequestStart(controller);
  answer.onResponseStart(controller, 200, {});
  const piece = Buffer.alloc(40_000);
  answer.onResponseData(controller, piece);
  expect(controller.paused).toBe(false);
  answer.onResponseData(controller, piece);
  expect(controller.paused).toBe(true);
  const pieces = answer.pieces();
  await pieces.next();
  await pieces.next();
  const third = pieces.next();
  await vi.waitFor(() => expect(controller.paused).toBe(false));
  answer.onResponseData(controller, Buffer.from("more"));
  expect(String((await third).value)).toBe("more");
  answer.onResponseEnd();
  expect(await pieces.next()).toEqual({ done: true, value: undefined });
  exchange.close();
});

it("gives what came before it tells that the rest did not", async () => {
  const { exchange, answer, controller } = newAnswer();
  answer.onRequestStart(controller);
  answer.onResponseStart(controller, 200, {});
  answer.onResponseData(controller, Buffer.from("first"));
  answer.onResponseError(controller, new Error("cut"));
  const pieces = answer.pieces();
  expect(String((await pieces.next()).value)).toBe("first");
  await expect(pieces.next()).rejects.toThrow("cut");
  exchange.close();
});

it("does not send a request whose caller leaves while it waits for a connection", async () => {
  const { caller, exchange, answer, controller } = newAnswer();
  const begun = answer.begun.catch((thrown: unknown) => thrown);
  caller.abort(new Error("gone"));
  expect(await begun).toMatchObject({ message: "gone" });
  answer.onRequestStart(controller);
  expect(controller.reason).toMatchObject({ message: "gone" });
  exchange.close();
});

it("lets its connection serve the next request where the rest comes within a second, and gives it up where it does not", async () => {
  vi.useFakeTimers();
  for (const isInTime of [true, false]) {
    const { exchange, answer, controller } = newAnswer();
    answer.onRequestStart(controller);
    answer.onResponseStart(controller, 200, {});
    answer.onResponseData(controller, Buffer.from("[DONE]"));
    for await (const _ of answer.pieces()) break;
    exchange.close();
    answer.onResponseData(controller, Buffer.alloc(100_000));
    expect(controller.paused).toBe(false);
    if (isInTime) answer.onResponseEnd();
    vi.advanceTimersByTime(1_001);
    expect(controller.aborted).toBe(!isInTime);
  }
});

it("hears nothing of what is said ahead of an answer", async () => {
  const { exchange, answer, controller } = newAnswer();
  answer.onRequestStart(controller);
  answer.onResponseStart(controller, 103, { link: "early" });
  answer.onResponseStart(controller, 200, { "x-one": "1" });
  const { status, headers } = await answer.begun;
  expect([status, headers.get("x-one"), headers.get("link")]).toEqual([200, "1", null]);
  exchange.close();
});
