import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  MessageSchema,
  ModelSchema,
  Role,
  ToolDefinitionSchema,
  UsageSchema,
  type Message,
  type ToolDefinition,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CacheBreakCause as Cause } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { PrefixLedger, type EarlierCall } from "./prefix-ledger.ts";

const rates = { input: 3_000n, output: 15_000n, cacheRead: 300n, cacheWrite: 3_750n, cacheWriteHour: 6_000n };
const prices = [{ validFrom: timestampFromDate(new Date(0)), rates }];
const priced = create(ModelSchema, { id: "a/priced", prices });
const unpriced = create(ModelSchema, { id: "a/unpriced" });

const said = (role: Role, text: string): Message => create(MessageSchema, { role, parts: [{ part: { case: "text", value: text } }] });
const tool = (name: string): ToolDefinition => create(ToolDefinitionSchema, { name, inputSchemaJson: "{}" });
const system = said(Role.SYSTEM, "You help.");
const tools = [tool("read_file")];
const conversation = Array.from({ length: 20 }, (_, at) => said(at % 2 === 0 ? Role.USER : Role.ASSISTANT, `${at} `.repeat(200)));

const at = (seconds: number): Date => new Date(Date.UTC(2026, 10, 23) + seconds * 1_000);
const used = (usage: MessageInitShape<typeof UsageSchema>) => create(UsageSchema, usage);

interface Next {
  readonly messages?: readonly Message[];
  readonly tools?: readonly ToolDefinition[];
  readonly model?: typeof priced;
  readonly usage?: MessageInitShape<typeof UsageSchema>;
  readonly seconds?: number;
}

/** What is found of a call after one that sent ten thousand tokens. */
function after({ messages = [system, ...conversation], tools: offered = tools, model = priced, usage = {}, seconds = 10 }: Next) {
  const ledger = new PrefixLedger(model);
  const first = ledger.send([system, ...conversation.slice(0, 18)], tools);
  expect(ledger.settle(first, used({ inputTokens: 10_000n }), at(0))).toMatchObject({ reusableTokens: 0n });
  return ledger.settle(ledger.send(messages, offered), used({ inputTokens: 11_000n, ...usage }), at(seconds));
}

describe("what a provider's cache gave", () => {
  it("is no break where it gave nearly all that was sent before, or there is next to nothing to give", () => {
    expect(after({ usage: { inputTokens: 2_000n, cacheReadTokens: 9_000n } })).not.toHaveProperty("breakCause");
    const ledger = new PrefixLedger(priced);
    ledger.settle(ledger.send([system], tools), used({ inputTokens: 1_000n }), at(0));
    expect(ledger.settle(ledger.send([system], tools), used({ inputTokens: 1_000n }), at(1))).not.toHaveProperty("breakCause");
  });

  it.each([
    ["tools", { tools: [...tools, tool("write_file")] }, Cause.TOOLS],
    ["what stands before the conversation", { messages: [said(Role.SYSTEM, "You help much."), ...conversation] }, Cause.SYSTEM],
    ["the conversation's beginning", { messages: [system, said(Role.USER, "in short"), ...conversation.slice(15)] }, Cause.MESSAGES],
    ["nothing, after a long pause", { seconds: 301 }, Cause.IDLE],
    ["nothing, at once", { seconds: 299 }, Cause.PROVIDER],
    ["the last reminder alone", { messages: [system, ...conversation.slice(0, 17), said(Role.USER, "!")] }, Cause.PROVIDER],
  ] as const)("is a break with a cause where this changed: %s", (_, next, cause) => {
    expect(after(next)).toMatchObject({ breakCause: cause, reusableTokens: 10_000n, breakCost: 10_000n * 2_700n });
  });

  it("is priced by what was not given, and not at all without a price", () => {
    expect(after({ usage: { inputTokens: 7_000n, cacheReadTokens: 4_000n } })).toMatchObject({ breakCost: 6_000n * 2_700n });
    const cached = { inputTokens: 9_000n, cacheWriteTokens: 2_000n };
    expect(after({ model: unpriced, usage: cached })).toMatchObject({ breakCause: Cause.PROVIDER });
    expect(after({ model: unpriced, usage: cached })).not.toHaveProperty("breakCost");
  });

  it("is never a break of a model that caches nothing", () => {
    expect(after({ model: unpriced })).toEqual({
      prefixHash: expect.stringMatching(/^[0-9a-f]{16}:[0-9a-f]{16}$/),
      reusableTokens: 10_000n,
    });
  });

  it("is compared with the session's call before the run, of whatever model", () => {
    const ledger = new PrefixLedger(priced);
    const sent = ledger.send([system, ...conversation], tools);
    const earlier: EarlierCall = { model: "a/other", prefixHash: sent.hash, inputTokens: 8_000n, wasCached: true, at: at(-3_600) };
    ledger.continue(earlier);
    expect(ledger.settle(sent, used({ inputTokens: 9_000n }), at(0))).toMatchObject({ breakCause: Cause.MODEL, reusableTokens: 8_000n });
    ledger.continue(earlier);
    expect(ledger.settle(sent, used({ inputTokens: 9_000n }), at(1))).toMatchObject({ breakCause: Cause.PROVIDER, reusableTokens: 9_000n });
  });
});
