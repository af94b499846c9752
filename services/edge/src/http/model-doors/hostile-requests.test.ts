import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { readHostile } from "./answer-door.ts";
import { readEmbeddings } from "./embeddings.ts";
import { FieldError, type Fields } from "./fields.ts";
import { readChat } from "./read-chat.ts";
import { readCount, readMessages } from "./read-messages.ts";
import { readResponses } from "./read-responses.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SCHEMA = { type: "object", properties: {} };

/** What stock clients send. Each is read as it is; whatever is put in the place of any of it is read or refused. */
const REQUESTS: Readonly<Record<string, readonly [read: (body: Fields) => unknown, body: object]>> = {
  chat: [
    readChat,
    {
      model: "a/b",
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "developer", content: "Be kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          ],
        },
        { role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "1", content: "done" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: SCHEMA, strict: true } }],
      tool_choice: { type: "function", function: { name: "f" } },
      response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA } },
      stop: ["x"],
      reasoning_effort: "high",
      store: false,
      n: 1,
    },
  ],
  responses: [
    readResponses,
    {
      model: "a/b",
      instructions: "Be kind.",
      input: [
        { role: "user", content: [{ type: "input_text", text: "Hi" }] },
        { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "YQ==" },
        { type: "function_call", call_id: "1", name: "f", namespace: "n", arguments: "{}" },
        { type: "function_call_output", call_id: "1", output: [{ type: "input_text", text: "done" }] },
      ],
      tools: [{ type: "namespace", name: "n", tools: [{ type: "function", name: "f", parameters: SCHEMA }] }],
      include: ["reasoning.encrypted_content"],
      text: { format: { type: "json_object" } },
      reasoning: { effort: "xhigh", summary: "auto" },
      store: false,
      stream: true,
    },
  ],
  messages: [
    readMessages,
    {
      model: "a/b",
      max_tokens: 10,
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "YQ==" },
            { type: "redacted_thinking", data: "call.YQ==" },
            { type: "tool_use", id: "1", name: "f", input: { x: 1 } },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "1",
              content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }],
            },
            { type: "text", text: "And now?" },
          ],
        },
      ],
      tools: [{ name: "f", input_schema: SCHEMA }],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 2_000 },
      metadata: { user_id: "x" },
    },
  ],
  count: [readCount, { model: "a/b", messages: [{ role: "user", content: "Hi" }], system: "Be kind." }],
  embeddings: [readEmbeddings, { model: "a/b", input: ["a", "b"], encoding_format: "base64" }],
};

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inside]) => pathsOf(inside, [...path, name]))];
}

/** The same with something else in one place; with one more field where that is an object. */
function replaced(value: unknown, [name, ...rest]: Path, other: unknown): unknown {
  if (name === undefined) return other;
  const copy: Record<string, unknown> = Array.isArray(value) ? (Object.assign([], value) as never) : { ...(value as object) };
  copy[name] = replaced(copy[name], rest, other);
  return copy;
}

function outcomeOf(read: () => unknown): "read" | "refused" {
  try {
    read();
    return "read";
  } catch (thrown) {
    if (thrown instanceof HlvmError) return "refused";
    throw thrown;
  }
}

describe.each(Object.entries(REQUESTS))("a request of %s", (_, [read, body]) => {
  it("is read as clients send it", () => {
    expect(readHostile(JSON.stringify(body), read)).toBeDefined();
  });

  it("is read or refused, and throws nothing else, whatever stands in any place of it", () => {
    const paths = pathsOf(body);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue({ maxDepth: 3 }), (path, other) => {
        const text = JSON.stringify(replaced(body, path, other));
        outcomeOf(() => readHostile(text, read));
      }),
      { numRuns: 400 },
    );
  });

  it("is refused where it is no JSON, no object, or nested without end", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const texts = [
      "",
      "{",
      "[]",
      "null",
      '"x"',
      "1e999",
      deep,
      `{"model":"a/b","metadata":${deep},"messages":${deep},"input":${deep},"tools":[{"name":"f","input_schema":{"x":${deep}}}]}`,
    ];
    for (const text of texts) expect(outcomeOf(() => readHostile(text, read))).toBe("refused");
  });

  it("names a field that nobody understands", () => {
    const refused = () => readHostile(JSON.stringify({ ...body, frobnicate: 1 }), read);
    expect(refused).toThrow(FieldError);
    expect(refused).toThrow("frobnicate: is not supported here");
  });
});
