import { toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { MessageSchema, ToolDefinitionSchema, type GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { TrustState } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { readCall } from "../../testing/read-call.ts";
import { say } from "../../testing/say.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";
import { usualBehaviour } from "../../testing/usual-behaviour.ts";

const TURNS = 60;
const test = useTestOrchestrator({ HLVM_MAXIMUM_TURNS: String(TURNS + 1) });

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
/** Of each message: what a provider's cache would compare. */
const hashesOf = ({ messages }: GenerateRequest): string[] => messages.map((message) => sha256Hex(hex(toBinary(MessageSchema, message))));
const toolsOf = ({ tools }: GenerateRequest): string => sha256Hex(tools.map((tool) => hex(toBinary(ToolDefinitionSchema, tool))).join());
/** Messages at the beginning that both have. */
const common = (one: readonly string[], other: readonly string[]): number => {
  const first = one.findIndex((hash, index) => hash !== other[index]);
  return first < 0 ? one.length : first;
};

/** A workspace with instructions at its top and in a folder that is reached late, and a memory that knows something else each time. */
function surroundings(): void {
  const texts: Record<string, string> = { "": "Use tabs.", late: "Use spaces here.", later: "Use dots here." };
  test.fake.behaviour.readInstructions = ({ folders }) => ({
    workspace: "/work",
    files: folders
      .filter((folder) => texts[folder] !== undefined)
      .map((folder) => ({
        file: { path: folder === "" ? "AGENTS.md" : `${folder}/AGENTS.md`, text: texts[folder]! },
        sha256: sha256Hex(texts[folder]!),
      })),
  });
  test.fake.behaviour.checkTrust = () => TrustState.TRUSTED;
  let recalls = 0;
  test.fake.behaviour.recall = () => ({ facts: [{ text: `fact ${++recalls}` }] });
}

const folderOf = (turn: number): string => (turn < 20 ? "early" : turn < 40 ? "late" : "later");

/** Requests of the run itself: a summary is asked for with an instruction of its own and no tools. */
const requestsOfRun = (): GenerateRequest[] => test.fake.seen.requests.filter(({ tools }) => tools.length > 0);
const compactions = (events: readonly Event[]): number => events.filter(({ payload }) => payload.case === "compaction").length;

describe("the beginning of a run's requests", () => {
  it("is the same to the byte from turn to turn, whatever comes late, and changes with a compaction alone", async () => {
    surroundings();
    test.fake.behaviour.model = { ...usualBehaviour.model, contextWindow: 16_000 };
    let turn = 0;
    test.fake.behaviour.generate = ({ tools }) => {
      if (tools.length === 0) return say("## Done\nmuch");
      turn++;
      return turn > TURNS ? say("done") : say(`turn ${turn}`, [readCall(`${folderOf(turn)}/${turn}`)]);
    };
    test.fake.behaviour.execute = async function* ({ call }) {
      yield { event: { case: "result", value: { success: true, content: `${call?.argumentsJson} ${"x".repeat(2_000)}` } } };
    };
    const { events, stopped } = await test.run("Read all of it.", { personalInstructions: "Answer in Welsh." });
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    const requests = requestsOfRun();
    expect(requests).toHaveLength(TURNS + 1);
    expect(new Set(requests.map(toolsOf)).size).toBe(1);

    const hashes = requests.map(hashesOf);
    const breaks = hashes.slice(1).filter((next, index) => common(hashes[index]!, next) < hashes[index]!.length);
    expect(compactions(events)).toBeGreaterThan(1);
    expect(breaks).toHaveLength(compactions(events));
    // Up to the compaction point: the system prompt and all instructions that were there from the beginning.
    for (const [index, next] of hashes.slice(1).entries()) expect(common(hashes[index]!, next)).toBeGreaterThanOrEqual(2);
    const last = JSON.stringify(
      requests.at(-1)!.messages.map(({ parts }) => parts.map(({ part }) => (part.case === "text" ? part.value : ""))),
    );
    for (const words of ["Answer in Welsh.", "Use tabs.", "Use spaces here.", "Use dots here.", "fact 1"]) expect(last).toContain(words);
  });

  it("is the same in a session's next run up to what the last one was reminded of", async () => {
    surroundings();
    test.answers(["one"], ["", [readCall("late/a")]], ["two"]);
    const { sessionId } = await test.run("First.");
    await test.run("Second.", { sessionId });
    const [first, second, third] = requestsOfRun().map(hashesOf);
    // The system prompt and the instructions; what a run is reminded of is replaced by the next one's.
    expect(common(first!, second!)).toBe(2);
    expect(common(second!, third!)).toBe(second!.length);
  });
});
