import { expect, it } from "vitest";
import { Role, type GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ContextKind, ExportFormat, type GetContextResponse } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { readCall } from "../../testing/read-call.ts";
import { say } from "../../testing/say.ts";
import { ada } from "../../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";
import { usualBehaviour } from "../../testing/usual-behaviour.ts";

const TURNS = 40;
const test = useTestOrchestrator({ HLVM_MAXIMUM_TURNS: "60" });

const isSummary = (request: GenerateRequest): boolean => request.tools.length === 0;
const textsOf = ({ messages }: GenerateRequest): string[] =>
  messages
    .filter(({ role }) => role !== Role.SYSTEM)
    .flatMap(({ parts }) =>
      parts.map(({ part }) => {
        if (part.case === "toolCall") return `call ${part.value.id}`;
        return part.case === "toolResult" ? `result ${part.value.id}: ${part.value.content.length}` : String(part.value);
      }),
    );
const lastTexts = (): string[] => textsOf(test.fake.seen.requests.at(-1)!);
const contextOf = async (sessionId: string): Promise<GetContextResponse> =>
  test.orchestrator.client.getContext({ sessionId }, await test.orchestrator.as(ada));

/** A session that was compacted several times: what its model was given in each turn, and before which turns it was compacted. */
async function compactedSession() {
  let turn = 0;
  test.fake.behaviour.model = { ...usualBehaviour.model, contextWindow: 16_384 };
  test.fake.behaviour.generate = (request) => {
    if (isSummary(request)) return say(`## Done: up to turn ${turn}.`);
    turn++;
    return turn > TURNS ? say("Done.") : say("", [readCall(`file-${turn}`)]);
  };
  test.fake.behaviour.execute = async function* ({ call }) {
    const content = `${call!.argumentsJson} has a line\n`.repeat(150);
    yield { event: { case: "result", value: { success: true, content, summary: "read" } } };
  };
  const { sessionId, events } = await test.run("Read every file.");
  const given = test.fake.seen.requests.filter((request) => !isSummary(request)).map(textsOf);
  const compacted = events.filter(({ payload }) => payload.case === "compaction").map((event) => event.turn);
  expect(compacted.length).toBeGreaterThan(2);
  const results = events.filter(({ payload }) => payload.case === "toolEnd").map(({ sequence }) => Number(sequence));
  return { sessionId, given, compacted, results };
}

/** The model opens a result, and has done then. */
function opensResult(result: number): void {
  const answers = [say("", [{ tool: "read_result", arguments: { result } }])];
  test.fake.behaviour.generate = () => answers.pop() ?? say("fine");
}

async function copyOf(sessionId: string): Promise<{ forked: string; imported: string }> {
  const { client } = test.orchestrator;
  const options = await test.orchestrator.as(ada);
  let ndjson = "";
  for await (const { text } of client.exportSession({ sessionId, format: ExportFormat.NDJSON }, options)) ndjson += text;
  const { session: forked } = await client.forkSession({ sessionId }, options);
  const { session: imported } = await client.importSession({ ndjson, workspace: "/work" }, options);
  return { forked: forked!.sessionId, imported: imported!.sessionId };
}

it("gives the model after an undo what it had at that turn, whatever was compacted since", async () => {
  const { sessionId, given, compacted, results } = await compactedSession();
  const [first, second] = compacted as [number, number];
  await test.undo({ sessionId, toTurn: second - 2 });
  opensResult(results[second]!);
  const { results: opened } = await test.run("And now?", { sessionId });
  expect(textsOf(test.fake.seen.requests.at(-2)!)).toEqual([...given[second - 2]!, "And now?"]);
  expect(given[second - 2]!.join("\n")).toContain(`## Done: up to turn ${first - 1}.`);
  expect(opened).toMatchObject([{ success: false, errorCode: "not_found" }]);

  await test.undo({ sessionId, toTurn: first - 2 });
  test.answers(["fine"]);
  await test.run("And now?", { sessionId });
  expect(lastTexts()).toEqual([...given[first - 2]!, "And now?"]);
  expect(lastTexts().join("\n")).not.toContain("<summary>");
  const turn = first - 2;
  const { dropped } = await contextOf(sessionId);
  expect(dropped).toMatchObject([
    { source: `all after turn ${turn}`, why: `undone by user:ada: the conversation went back to its turn ${turn}` },
  ]);
  expect(dropped[0]!.fromSequence).toBeLessThanOrEqual(BigInt(results[turn]!));
  expect(dropped[0]!.toSequence).toBeGreaterThanOrEqual(BigInt(results.at(-1)!));
});

it("folds a fork and an import of a compacted session like the session itself, and trusts nothing of the import", async () => {
  const { sessionId, compacted } = await compactedSession();
  await test.undo({ sessionId, toTurn: compacted.at(-1)! - 2 });
  const { forked, imported } = await copyOf(sessionId);
  const original = await contextOf(sessionId);
  expect(original.dropped).toMatchObject([
    { source: expect.stringMatching(/^\d+ turns with/) },
    { why: expect.stringMatching(/^undone by/) },
  ]);
  expect(await contextOf(forked)).toEqual(original);

  test.fake.behaviour.model = usualBehaviour.model;
  test.answers(["fine"]);
  await test.run("And now?", { sessionId });
  const texts = lastTexts();
  await test.run("And now?", { sessionId: imported });
  // The file does without some events, so that those behind them have other numbers.
  const unnumbered = (text: string): string => text.replaceAll(/result \d+/g, "result N");
  expect(lastTexts().map(unnumbered)).toEqual(texts.map(unnumbered));
  const context = await contextOf(imported);
  expect(context.trustFloor).toMatchObject({ trust: Trust.EXTERNAL, source: "import" });
  const fromFile = context.fragments.filter(({ kind, source }) => kind === ContextKind.SUMMARY || source === "read_file");
  expect(new Set(fromFile.map(({ trust }) => trust))).toEqual(new Set([Trust.EXTERNAL]));

  const [, number, path] = /result (\d+): read_file (file-\d+) /.exec(lastTexts().join("\n"))!;
  opensResult(Number(number));
  const { results } = await test.run("What was in it?", { sessionId: imported });
  expect(results).toMatchObject([{ success: true, content: expect.stringContaining(`{"path":"${path}"} has a line`) }]);
});
