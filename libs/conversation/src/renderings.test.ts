import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ApprovalKind } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EventSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Conversation } from "./conversation.ts";
import type { Item } from "./item.ts";
import { callTarget } from "./call-target.ts";

/** What each client makes of one session; each is kept up to date by that client's own test. */
const RENDERINGS = ["whole-session.items.json", "whole-session.cli.txt", "whole-session.md", "whole-session.page.txt"];

function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");
}

function wholeSession(): Conversation {
  const { events } = JSON.parse(fixture("whole-session.json")) as { events: JsonValue[] };
  const conversation = new Conversation();
  conversation.add(events.map((event) => fromJson(EventSchema, event)));
  return conversation;
}

describe("a whole session", () => {
  it("is folded as it is", async () => {
    const { items, run, todo } = wholeSession();
    expect(new Set(items.map(({ kind }) => kind)).size).toBe(12);
    const plain = (_: string, value: unknown): unknown =>
      typeof value === "bigint" ? Number(value) : value instanceof Uint8Array ? [...value] : value;
    await expect(`${JSON.stringify({ items, run, todo }, plain, 1)}\n`).toMatchFileSnapshot("../fixtures/whole-session.items.json");
  });

  it.each(RENDERINGS)("reads in %s as in every other: each thing once, in one order", (name) => {
    const isRecord = name.endsWith(".cli.txt") || name.endsWith(".md");
    const text = plainText(name);
    const { items } = wholeSession();
    const undone = items.findIndex((item) => item.kind === "info" && item.topic === "undo");
    for (const of of [said, called, failed, answered]) {
      const tokens = items.flatMap((item) => of(item, name));
      expect(tokens.length).toBeGreaterThan(1);
      let from = 0;
      for (const token of tokens) {
        const at = text.indexOf(token, from);
        expect(at, `${token} in ${text.slice(from)}`).toBeGreaterThanOrEqual(0);
        expect([token, text.split(token).length - 1]).toEqual([token, tokens.filter((one) => one === token).length]);
        from = at + token.length;
      }
    }
    // A record tells what was undone, before it says that it was; what is as it stands does not.
    expect(undone).toBeGreaterThan(0);
    const [removed, undoing] = [text.indexOf("Now remove the tests"), text.indexOf("Undone")];
    expect(removed >= 0).toBe(isRecord);
    expect(removed).toBeLessThan(undoing);
  });
});

/** Without what a format puts around words: escapes, blanks, the arguments in full, the echo of what was queued, and calls that are only told of. */
function plainText(name: string): string {
  const text = fixture(name);
  const unescaped = name.endsWith(".md") ? text.replace(/^```json\n[^]*?^```\n/gm, "").replace(/\\([^a-z0-9\s])/gi, "$1") : text;
  return unescaped.replace(/^.*, queued: .*\n|Replayed .*/gm, "").replace(/\s+/g, " ");
}

function said(item: Item, name: string): string[] {
  if (item.kind !== "user") return [];
  return [name.endsWith(".json") ? JSON.stringify(item.text) : item.text.replace(/\s+/g, " ")];
}

function called(item: Item, name: string): string[] {
  if (item.kind !== "tools") return [];
  return item.calls.map((call) => {
    if (name.endsWith(".json")) return `"tool": "${call.tool}", "argumentsJson": ${JSON.stringify(call.argumentsJson)}, "summary"`;
    if (name.endsWith(".md")) return `**Tool** ${call.tool} ${callTarget(call)}`;
    // The terminal shows the arguments of what never ran as they are.
    const isRaw = name.endsWith(".cli.txt") && call.summary === "";
    return `${call.tool} ${isRaw ? call.argumentsJson : callTarget(call)}`;
  });
}

function failed(item: Item, name: string): string[] {
  if (item.kind !== "tools") return [];
  const isJson = name.endsWith(".json");
  return item.calls.flatMap(({ state, exitCode, outcome }) => {
    if (state === "denied") return [isJson ? `"outcome": "${outcome}"` : outcome];
    return state === "failed" ? [isJson ? `"exitCode": ${exitCode}` : `exit ${exitCode}`] : [];
  });
}

function answered(item: Item, name: string): string[] {
  if (item.kind !== "approval") return [];
  const { state, outcome, tool, approval } = item;
  const by = outcome.replace(/^approval: /, "");
  if (name.endsWith(".json")) return [`"state": "${state}", "outcome": "${outcome}"`];
  const isQuestion = approval.kind === ApprovalKind.QUESTION;
  const isPlan = approval.kind === ApprovalKind.PLAN;
  const title = isQuestion ? "answer a question" : isPlan ? "accept this plan" : `run ${tool}`;
  if (name.endsWith(".page.txt")) return [`${state} ${title} ${by.replace("user:", "")}`];
  if (name.endsWith(".md")) return [`${isQuestion ? "the model's question" : tool}: ${state}, ${by}`];
  if (isPlan) return ["plan: accepted"];
  if (state === "denied") return [`denied (approval, ${outcome})`];
  return [`${isQuestion ? "the model's question" : tool} ${state}: ${by}`];
}
