import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { readExport } from "./read-export.ts";

const RUN = "7b1f6f0e-0d58-4d4e-9d0a-000000000002";
const head = { type: "session", format: 2, session_id: "s", title: "t" };
const at = "2026-11-21T10:00:00.250Z";

function event(sequence: number, fields: object): object {
  return { type: "agent_event", event: { sequence, run_id: RUN, iteration: 1, at, ...fields } };
}

const LINES = [
  head,
  event(1, { type: "user_message", text: "q", attachments: [{ path: "a", text: "b" }] }),
  event(2, { type: "run_started", model: "a/b", workspace: "/w" }),
  event(4, { type: "assistant_message", text: "a", tool_calls: [{ id: "1", name: "git_status", arguments_json: "{}" }] }),
  event(5, { type: "tool_end", call_id: `${RUN}.1.1`, name: "git_status", success: true, content: "clean" }),
  event(6, { type: "compaction", from_sequence: 4, to_sequence: 5, kept_sequences: [1], pointers: [{ sequence: 5, name: "git_status" }] }),
  { type: "final", sequence: 7, run_id: RUN, iteration: 1, at, stop_reason: "completed", text: "a" },
];

const fileOf = (lines: readonly unknown[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

function failureOf(ndjson: string): string {
  try {
    readExport(ndjson);
    return "";
  } catch (thrown) {
    if (thrown instanceof HlvmError && thrown.reason === "import_invalid") return thrown.message;
    throw thrown;
  }
}

describe("readExport", () => {
  it("reads what a conversation is made of", () => {
    const { title, lines, events } = readExport(fileOf(LINES));
    expect([title, lines]).toEqual(["t", 7]);
    expect(events.map(({ sequence, payload }) => [sequence, payload.case])).toEqual([
      [1, "userMessage"],
      [2, "runStarted"],
      [4, "assistantMessage"],
      [5, "toolEnd"],
      [6, "compaction"],
      [7, "runStopped"],
    ]);
  });

  it("reads a file of the first format, which spelled fields of events in camelCase", () => {
    const first = fileOf([{ ...head, format: 1 }, ...LINES.slice(1)]).replace(
      /"(tool_calls|arguments_json|call_id|(?:from|to)_sequence|kept_sequences)"/g,
      (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    );
    expect(first).toContain('"toolCalls"');
    expect(readExport(first).events).toEqual(readExport(fileOf(LINES)).events);
  });

  it("takes no time for one that is still to come", () => {
    const later = event(1, { type: "user_message", text: "q", at: "2999-01-01T00:00:00Z" });
    expect(readExport(fileOf([head, later])).events[0]!.at.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    ["a sequence twice", [head, LINES[1], LINES[1]], "Line 3 of the file cannot be imported: its sequence 1 does not follow 1."],
    ["a run that is none", [head, event(1, { type: "user_message", run_id: "x" })], 'its run_id "x" is no run\'s id'],
    ["a time that is none", [head, event(1, { type: "user_message", at: "soon" })], 'its time "soon" is none'],
    ["a text that is none", [head, event(1, { type: "user_message", text: 7 })], "its text is no text"],
    ["a turn that is none", [head, event(1, { type: "user_message", iteration: -1 })], "its iteration is no whole number"],
    [
      "too many calls",
      [head, event(1, { type: "assistant_message", tool_calls: Array.from({ length: 1_001 }, () => ({})) })],
      "its tool_calls is no list",
    ],
    ["a compaction of no events", [head, event(1, { type: "compaction", kept_sequences: [-1] })], "its kept_sequences is no whole number"],
    ["an end that is none", [head, { ...LINES[6], stop_reason: "unspecified" }], "its stop_reason"],
  ])("refuses %s, and says where", (_, lines, message) => {
    expect(failureOf(fileOf(lines))).toContain(message);
  });

  it("names a line, whatever is wrong with it", () => {
    fc.assert(
      fc.property(fc.nat(LINES.length - 1), fc.jsonValue(), fc.string(), (index, value, name) => {
        const line = typeof value === "object" && value !== null ? { ...LINES[index], ...value, [name]: value } : value;
        const event = { ...LINES[index], event: value };
        for (const changed of [line, event]) {
          const failure = failureOf(fileOf(LINES.with(index, changed as object)));
          expect(failure).toMatch(/^$|^Line [1-7] of the file cannot be imported: /);
        }
      }),
      { numRuns: 500 },
    );
  });
});
