import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it, onTestFinished } from "vitest";
import { FactScope, MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { MemoryStatsService, RecallKind } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { Speaker, TranscriptService } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { testLog } from "@hlvm/testing/test-log";
import type { DatasetQuestion } from "../dataset/dataset-question.ts";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm } from "../testing/run-hlvm.ts";

const SECRET = `ghp_${"a1B2".repeat(9)}`;
const [USED, WRONG, OTHER] = [
  "1f0c4b1e-7a93-4b32-8f0a-0d7f6c1f2a11",
  "2f0c4b1e-7a93-4b32-8f0a-0d7f6c1f2a11",
  "3f0c4b1e-7a93-4b32-8f0a-0d7f6c1f2a11",
];
const at = timestampFromDate(new Date("2026-11-20T12:30:00Z"));
const FACTS = [
  { factId: USED, text: `Heron is reached with ${SECRET}`, scope: FactScope.PERSONAL, sourceSessionId: "s1", validFrom: at },
  { factId: WRONG, text: "Heron is a bird", scope: FactScope.PERSONAL, validFrom: at },
  { factId: OTHER, text: "Builds run nightly", scope: FactScope.PROJECT, sourceSessionId: "s1", validFrom: at },
];
const TURNS = [
  { speaker: Speaker.PERSON, text: "Why does the pump stall at night?" },
  { speaker: Speaker.TOOL, text: "grep pump" },
  { speaker: Speaker.ASSISTANT, text: `Because the valve closes at ten; log in with ${SECRET} to see it.` },
  { speaker: Speaker.PERSON, text: "ok?" },
  { speaker: Speaker.ASSISTANT, text: "Anything else that I should look at in the meantime?" },
];

/** One person's recalls, facts and imported sessions, as memory gives them to that person. */
async function edgeUrl(): Promise<string> {
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: (next) => next,
    routes: (router) => {
      router.service(MemoryStatsService, {
        listRecalls: () => ({
          recalls: [
            { recallId: 7n, kind: RecallKind.RUN, query: "How is heron reached?", at, usedFactIds: [USED, WRONG], wrongFactIds: [WRONG] },
            { recallId: 6n, kind: RecallKind.TOOL, query: "What runs nightly?", at, usedFactIds: [OTHER], project: "project:here" },
            { recallId: 5n, kind: RecallKind.RUN, query: "What of birds?", at, usedFactIds: [WRONG], wrongFactIds: [WRONG] },
            { recallId: 4n, kind: RecallKind.RUN, query: "Who left?", at, usedFactIds: [], project: "project:left" },
          ],
        }),
      });
      router.service(MemoryService, {
        listFacts: ({ filter }) => {
          if (filter?.project === "project:left") throw new ConnectError("no member", Code.NotFound);
          return { facts: FACTS.filter(({ scope }) => scope === filter?.scope) };
        },
      });
      router.service(TranscriptService, {
        listTranscripts: () => ({ transcripts: ["b", "a"].map((session) => ({ tool: "codex", session })) }),
        getTranscript: ({ session, fromOrdinal }) =>
          session === "a"
            ? { turns: [{ ordinal: 0, speaker: Speaker.PERSON, text: "Thanks.", saidAt: at }] }
            : fromOrdinal === 0
              ? { turns: TURNS.slice(0, 2).map((turn, ordinal) => ({ ...turn, ordinal, saidAt: at })), nextOrdinal: 2 }
              : { turns: TURNS.slice(2).map((turn, place) => ({ ...turn, ordinal: place + 2, saidAt: at })) },
      });
    },
  });
  onTestFinished(() => server.close());
  return `http://127.0.0.1:${server.port}`;
}

it("hlvm memory dataset makes one's own questions a set in LongMemEval's form, without secrets, the same each time", async () => {
  const url = await edgeUrl();
  const first = runHlvm(["memory", "dataset"], { edgeUrl: url });
  expect(await first.ended).toBe(0);
  expect(first.stdout).not.toContain(SECRET);
  const questions = JSON.parse(first.stdout) as DatasetQuestion[];
  const again = runHlvm(["memory", "dataset", "--json"], { edgeUrl: url });
  expect(await again.ended).toBe(0);
  expect(jsonLines(again.stdout)).toEqual(questions);

  expect(questions.map(({ question_id: id }) => id)).toEqual(["recall-7", "recall-6", "codex/b:0"]);
  const [recalled, ofProject, asked] = questions as [DatasetQuestion, DatasetQuestion, DatasetQuestion];
  expect(recalled).toMatchObject({
    question_type: "recall-run",
    question_date: "2026/11/20 (Fri) 12:30",
    haystack_session_ids: ["s1", `fact-${WRONG}`],
    haystack_sessions: [
      [
        { role: "user", has_answer: true },
        { content: "Builds run nightly", has_answer: false },
      ],
      [{ content: "Heron is a bird", has_answer: false }],
    ],
    answer_session_ids: ["s1"],
  });
  expect(ofProject.answer).toBe("Builds run nightly");
  expect(asked).toMatchObject({
    question_type: "asked-again",
    question: TURNS[0]!.text,
    answer: expect.stringContaining("Because the valve closes at ten"),
    haystack_session_ids: ["codex/b", "codex/a"],
    answer_session_ids: ["codex/b"],
  });
  // Neither the question, which would be found by its own words, nor what tools printed.
  expect(asked.haystack_sessions[0]!.map(({ content, has_answer: is }) => [content.slice(0, 7), is])).toEqual([
    ["Because", true],
    ["ok?", false],
    ["Anythin", false],
  ]);
});
