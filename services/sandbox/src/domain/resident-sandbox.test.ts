import { testLog } from "@hlvm/testing/test-log";
import { beforeEach, expect, it, vi } from "vitest";
import type { SessionSandbox } from "./isolation.ts";
import { ResidentSandbox } from "./resident-sandbox.ts";
import { failedResult } from "./tool-event.ts";

const IDLE_MILLISECONDS = 1_000;
const request = { sessionId: "session", workspace: { path: "/project", identity: "1:2" } };

/** A start that is under way: the sandbox that it gives, and what settles it. */
class Start {
  readonly #started = Promise.withResolvers<SessionSandbox>();
  readonly #ended = Promise.withResolvers<void>();
  isClosed = false;

  get sandbox(): Promise<SessionSandbox> {
    return this.#started.promise;
  }

  comeUp(): void {
    const ended = this.#ended.promise;
    const run = (): Promise<ReturnType<typeof failedResult>> => Promise.resolve(failedResult("internal", "not run", 0));
    const close = (): Promise<void> => {
      this.isClosed = true;
      this.#ended.resolve();
      return ended;
    };
    this.#started.resolve({ run, ending: ended, ended, close });
  }

  fail(): void {
    this.#started.reject(new Error("it does not come up"));
  }

  end(): void {
    this.#ended.resolve();
  }
}

let starts: Start[];
let resident: ResidentSandbox;

beforeEach(() => {
  starts = [];
  const start = (): Promise<SessionSandbox> => {
    starts.push(new Start());
    return starts.at(-1)!.sandbox;
  };
  const isolation = { start, describe: () => ({ driver: "test", driverVersion: "0", features: [] }) };
  resident = new ResidentSandbox(isolation, request, IDLE_MILLISECONDS, testLog);
});

const nothing = (): Promise<void> => Promise.resolve();

it("starts one sandbox for uses that come at once, and for those that follow", async () => {
  const both = Promise.all([resident.use(nothing), resident.use(nothing)]);
  expect(resident).toMatchObject({ isUp: true, isInUse: true });
  starts[0]!.comeUp();
  await both;
  await resident.use(nothing);
  expect(starts).toHaveLength(1);
  expect(resident).toMatchObject({ isUp: true, isInUse: false });
});

it("tells every use that waits that the start failed, and tries again with the next", async () => {
  const both = Promise.allSettled([resident.use(nothing), resident.use(nothing)]);
  starts[0]!.fail();
  expect((await both).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(resident.isUp).toBe(false);
  const next = resident.use(nothing);
  starts[1]!.comeUp();
  await next;
});

it("starts a new one where the last one ended by itself", async () => {
  const first = resident.use(nothing);
  starts[0]!.comeUp();
  await first;
  starts[0]!.end();
  await expect.poll(() => resident.isUp).toBe(false);
  const second = resident.use(nothing);
  starts[1]!.comeUp();
  await second;
});

it("stops one that is idle, and none that is in use", async () => {
  vi.useFakeTimers();
  const longUse = Promise.withResolvers<void>();
  const using = resident.use(() => longUse.promise);
  starts[0]!.comeUp();
  await resident.use(nothing);
  await vi.advanceTimersByTimeAsync(2 * IDLE_MILLISECONDS);
  expect(resident.isUp).toBe(true);
  longUse.resolve();
  await using;
  await vi.advanceTimersByTimeAsync(IDLE_MILLISECONDS);
  expect(resident.isUp).toBe(false);
  expect(starts[0]!.isClosed).toBe(true);
  vi.useRealTimers();
});

it("lets none stay that comes up after it was closed", async () => {
  const using = resident.use(nothing);
  const closing = resident.close();
  starts[0]!.comeUp();
  await Promise.all([using, closing]);
  expect(starts[0]!.isClosed).toBe(true);
  const late = resident.use(nothing);
  starts[1]!.comeUp();
  await late;
  expect(starts[1]!.isClosed).toBe(true);
});
