import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, it, onTestFinished } from "vitest";
import { FactChangeKind } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { RecallKind } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { EntityKind, ThreadService, type GetThreadRequest, type GetThreadResponseSchema } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { testLog } from "@hlvm/testing/test-log";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm } from "../testing/run-hlvm.ts";

const [OLD, NEW] = ["1f0c4b1e-7a93-4b32-8f0a-0d7f6c1f2a11", "2f0c4b1e-7a93-4b32-8f0a-0d7f6c1f2a11"];
const at = (day: number) => timestampFromDate(new Date(Date.UTC(2026, 9, day, 12)));

const THREAD: MessageInitShape<typeof GetThreadResponseSchema> = {
  entities: [{ kind: EntityKind.PATH, name: "src/a.ts", items: 2 }],
  similar: [{ kind: EntityKind.NAME, name: "src\u001b[2J", items: 1 }],
  facts: [
    { factId: NEW, text: "a.ts is <b>new</b>\u001b[31m", validFrom: at(11) },
    { factId: OLD, text: "a.ts is old", validFrom: at(1), validTo: at(11), supersededBy: NEW },
  ],
  events: [
    { at: at(12), event: { case: "used", value: { factIds: [NEW], runId: "r" } } },
    { at: at(12), event: { case: "shown", value: { factIds: [NEW], kind: RecallKind.RUN, sessionId: OLD, query: "what of a" } } },
    {
      at: at(11),
      event: { case: "change", value: { kind: FactChangeKind.REPLACED, principal: "user:ada", fact: { text: "a.ts is new" }, others: [] } },
    },
    { at: at(2), event: { case: "turn", value: { tool: "codex", session: "s1", turn: { ordinal: 3, text: "open src/a.ts" } } } },
  ],
  related: [{ kind: EntityKind.PERSON, name: "ada", items: 2 }],
  relations: [{ subject: "a.ts", predicate: "state", object: "a.ts is new", factId: NEW }],
  nextPageToken: "more",
};

async function edgeWithThread(): Promise<{ readonly url: string; readonly asked: GetThreadRequest[] }> {
  const asked: GetThreadRequest[] = [];
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: (next) => next,
    routes: (router) =>
      router.service(ThreadService, {
        getThread: (request) => {
          asked.push(request);
          return request.name === "unknown" ? { similar: THREAD.similar! } : THREAD;
        },
      }),
  });
  onTestFinished(() => server.close());
  return { url: `http://127.0.0.1:${server.port}`, asked };
}

it("hlvm memory thread shows what held when, what replaced it, what was said, and where it was used", async () => {
  const edge = await edgeWithThread();
  const shown = runHlvm(["memory", "thread", "--kind", "path", "src/a.ts"], { edgeUrl: edge.url });
  expect(await shown.ended).toBe(0);
  expect(edge.asked[0]).toMatchObject({ name: "src/a.ts", kind: EntityKind.PATH, limit: 50 });
  const lines = shown.stdout.split("\n");
  expect(lines[0]).toBe("src/a.ts (path, 2)");
  expect(lines.slice(2, 4)).toEqual([
    expect.stringMatching(/^├─+┤ +2026-10-01 2026-10-11 {2}1f0c4b1e {2}a\.ts is old {2}→ 2f0c4b1e$/),
    expect.stringMatching(/^ +├─+▶ {2}2026-10-11 {13}2f0c4b1e {2}a\.ts is <b>new<\/b>␛\[31m$/),
  ]);
  for (const words of [
    "used  2f0c4b1e in an answer",
    "shown  2f0c4b1e by run in session 1f0c4b1e: what of a",
    "replaced  user:ada  a.ts is new",
    "said  codex s1 3",
    "a.ts: state  →  a.ts is new",
    "With ada (2)",
  ])
    expect(shown.stdout).toContain(words);
  expect(shown.stdout + shown.stderr).not.toContain("\u001b");
  expect(shown.stderr).toContain("There are also src␛[2J (name, 1)");
  expect(shown.stderr).toContain("Earlier: --page more");
});

it("is one JSON object with --json, in colour on a terminal, and names what is similar where nothing is known", async () => {
  const { url: edgeUrl } = await edgeWithThread();
  const json = runHlvm(["memory", "thread", "src/a.ts", "--json"], { edgeUrl });
  expect(await json.ended).toBe(0);
  expect(jsonLines(json.stdout)).toMatchObject([
    { entities: [{ kind: "path" }], events: [{ used: {} }, { shown: { kind: "run" } }, {}, {}] },
  ]);
  const terminal = runHlvm(["memory", "thread", "src/a.ts"], { edgeUrl, terminal: true });
  expect(await terminal.ended).toBe(0);
  expect(terminal.stdout).toMatch(/\p{Cc}\[32m +├─+▶/u);
  const unknown = runHlvm(["memory", "thread", "unknown"], { edgeUrl });
  expect(await unknown.ended).toBe(1);
  expect(unknown.stderr).toContain("Nothing that is remembered speaks of it.");
  const wrong = runHlvm(["memory", "thread", " "], { edgeUrl });
  expect(await wrong.ended).toBe(2);
});
