import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { FactChangeKind, FactScope } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { WatchService, type MemoryTopic, type WatchResponseSchema } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { testLog } from "@hlvm/testing/test-log";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm } from "../testing/run-hlvm.ts";

const at = timestampFromDate(new Date("2026-11-21T10:00:00Z"));
const SESSION = "5f0c4b1e-7a93-4b32-8f0a-0d7f6c1f2a11";

/** One frame each time that it is asked: a client that lags has to come again for the next. */
async function edgeOfMemory(): Promise<{ readonly url: string; readonly asked: MemoryTopic[] }> {
  const asked: MemoryTopic[] = [];
  const fact = { text: "CI takes 9\u001b[2J minutes", factId: SESSION };
  const changes = [
    { at, kind: FactChangeKind.REPLACED, principal: "user:ada", sessionId: SESSION, fact, others: [{ text: "CI is quick" }] },
  ];
  const recalls = [
    { at, principal: "user:ada", sessionId: SESSION, recalled: ["one", "two"] },
    { at, principal: "user:bob", sessionId: SESSION, withheld: 2 },
  ];
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: (next) => next,
    routes: (router) =>
      router.service(WatchService, {
        async *watch({ topics }, { signal }): AsyncGenerator<MessageInitShape<typeof WatchResponseSchema>> {
          asked.push(topics[0]!.topic.value as MemoryTopic);
          if (asked.length === 1) yield { topic: "memory", frame: { case: "memory", value: { changes, cursor: "next" } } };
          else yield { topic: "memory", frame: { case: "memory", value: { recalls } } };
          yield { topic: "memory", frame: { case: "lagging", value: {} } };
          if (asked.length > 1) await once(signal, "abort");
        },
      }),
  });
  onTestFinished(() => server.close());
  return { url: `http://127.0.0.1:${server.port}`, asked };
}

const LINES = [
  `replaced  user:ada  5f0c4b1e  ${SESSION}  CI takes 9␛[2J minutes  (in place of "CI is quick")`,
  "recalled  user:ada  5f0c4b1e  one; two",
  "recalled  user:bob  5f0c4b1e  2 facts of somebody else's",
];

/** What it says until it is stopped once everything has come. */
async function followed(...flags: string[]): Promise<string> {
  const edge = await edgeOfMemory();
  const hlvm = runHlvm(["memory", "changes", "--follow", "--scope", "team", ...flags], { edgeUrl: edge.url });
  await hlvm.shows("user:bob");
  hlvm.child.kill("SIGINT");
  expect(await hlvm.ended).toBe(130);
  expect(edge.asked.map(({ cursor, filter }) => [cursor, filter?.scope]).slice(0, 2)).toEqual([
    ["", FactScope.TEAM],
    ["next", FactScope.TEAM],
  ]);
  return hlvm.stdout;
}

it("hlvm memory changes --follow goes on behind the last change, shows what runs are reminded of, and stops at Ctrl-C", async () => {
  const text = await followed();
  for (const line of LINES) expect(text).toContain(line);
  expect(jsonLines(await followed("--json")).slice(0, 3)).toMatchObject([
    { type: "fact_change", kind: "replaced", others: [{ text: "CI is quick" }] },
    { type: "recall", recalled: ["one", "two"] },
    { type: "recall", withheld: 2, recalled: [] },
  ]);
});
