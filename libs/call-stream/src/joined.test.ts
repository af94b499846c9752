import { createClient } from "@connectrpc/connect";
import { expect, it, onTestFinished } from "vitest";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { answerCalls } from "./answer-calls.ts";
import { joined } from "./joined.ts";
import { MessageQueue } from "./message-queue.ts";
import { requestOf } from "./testing/streamed-calls.ts";

interface Said {
  readonly text: string;
}

const isEnd = ({ text }: Said): boolean => text === "end";
const KILOBYTES = 1_024;

/** Every message that leaves the queue, as the texts in it. */
async function joinedOf(texts: readonly string[]): Promise<string[][]> {
  const queue = new MessageQueue<Said>(1_000);
  const messages: string[][] = [];
  const reading = (async () => {
    for await (const first of queue) {
      const { text, more } = await joined(first, queue, isEnd);
      messages.push([text, ...more.map((each) => each.text)]);
    }
  })();
  for (const text of texts) await queue.push({ text });
  queue.end();
  await reading;
  return messages;
}

it("joins what is written in one turn of the event loop, in its order", async () => {
  expect(await joinedOf(["one", "two", "three", "end"])).toEqual([["one", "two", "three", "end"]]);
});

it("does not wait for others behind an end", async () => {
  const queue = new MessageQueue<Said>(10);
  await queue.push({ text: "later" });
  const isNext = await Promise.race([
    joined({ text: "end" }, queue, isEnd),
    new Promise((resolve) => setImmediate(resolve, "the next turn")),
  ]);
  expect(isNext).toEqual({ text: "end", more: [{ text: "later" }] });
});

it("leaves what is large by itself, and joins no more than 64 KiB", async () => {
  const large = "x".repeat(100 * KILOBYTES);
  expect((await joinedOf([large, "a", large, "b"])).map((texts) => texts.length)).toEqual([1, 1, 1, 1]);
  const some = (await joinedOf(Array.from({ length: 100 }, () => "x".repeat(KILOBYTES)))).map((texts) => texts.length);
  expect(some.reduce((sum, count) => sum + count)).toBe(100);
  expect(Math.max(...some)).toBeGreaterThan(10);
  expect(Math.max(...some)).toBeLessThanOrEqual(64);
});

it("counts bytes, and what lies deep in a message", async () => {
  const queue = new MessageQueue<{ readonly value: unknown }>(10);
  await queue.push({ value: { parts: [{ data: new Uint8Array(100 * KILOBYTES) }] } });
  expect((await joined({ value: 1n }, queue, () => false)).more).toEqual([]);
});

it("lets those write on who waited for room", async () => {
  const queue = new MessageQueue<Said>(2);
  await queue.push({ text: "one" });
  const written = queue.push({ text: "two" });
  expect(queue.takeWhile(() => true)).toEqual([{ text: "one" }, { text: "two" }]);
  await expect(written).resolves.toBeUndefined();
});

it("is not done for a caller that did not ask for it, as those of the version before", async () => {
  const { minter, verifier } = await createTestIdentity();
  const output = (text: string) => ({ case: "execute" as const, value: { event: { case: "output" as const, value: { text } } } });
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: verifier("sandbox"),
    routes: (router) =>
      router.service(SandboxService, {
        streamCalls: (requests, context) =>
          answerCalls(requests, context, {
            async *answer() {
              for (const text of ["one", "two", "three"]) yield output(text);
            },
            isLast: () => false,
            joins: true,
          }),
      }),
  });
  onTestFinished(() => server.close());
  const client = createClient(SandboxService, createMeshTransport(`http://127.0.0.1:${server.port}`));
  const messagesOf = async (takesMore: boolean): Promise<number[]> => {
    const requests = async function* () {
      yield { head: { id: 1, takesMore }, request: requestOf("a") };
    };
    const headers = { authorization: `Bearer ${minter.mint(testPrincipal, "sandbox")}` };
    const messages: number[] = [];
    for await (const { more } of client.streamCalls(requests(), { headers })) messages.push(1 + more.length);
    return messages;
  };
  expect(await messagesOf(false)).toEqual([1, 1, 1, 1]);
  expect(await messagesOf(true)).toEqual([4]);
});
