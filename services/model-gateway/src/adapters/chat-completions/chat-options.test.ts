import { describe, expect, it } from "vitest";
import type { GenerationOptions } from "../../domain/generation.ts";
import { generationOf, said } from "../suite/generations.ts";
import { chatRequest } from "./chat-request.ts";
import { DIALECT_NAMES, dialectOfOwner, dialectOfUrl, wholeDialect, type DialectName } from "./dialect.ts";

const request = (dialect: DialectName, options: GenerationOptions = {}) =>
  chatRequest("test", { ...generationOf("m", [said("user", "?")]), ...options }, wholeDialect(dialect)) as Readonly<
    Record<string, unknown>
  >;
const refused = expect.objectContaining({ class: "permanent", reason: "request_not_supported" });
const schema = { type: "object" };

describe("a chat completion", () => {
  it("asks in the server's own words", () => {
    expect(request("mistral", { toolChoice: { kind: "any" } }).tool_choice).toBe("any");
    expect(request("xai", { toolChoice: { kind: "any" } }).tool_choice).toBe("required");
    expect(request("vllm", { toolChoice: { kind: "tool", tool: "t" } }).tool_choice).toEqual({ type: "function", function: { name: "t" } });
    expect(request("openrouter", { effort: "high" }).reasoning).toEqual({ effort: "high" });
    expect(request("groq", { effort: "low" }).reasoning_effort).toBe("low");
    expect(request("deepseek", { effort: "none" }).thinking).toEqual({ type: "disabled" });
    expect(request("vllm", { outputFormat: { name: "a", schema, strict: true }, stopSequences: ["END"] })).toMatchObject({
      response_format: { type: "json_schema", json_schema: { name: "a", schema, strict: true } },
      stop: ["END"],
    });
  });

  it("has nothing that the server refuses, where it only helps", () => {
    const helping = { cacheKey: "k", userHash: "af", serviceTier: "standard" } as const;
    expect(Object.keys(request("llama", { ...helping, effort: "high" }))).toEqual(Object.keys(request("llama")));
    expect(Object.keys(request("google", helping)).toSorted()).toEqual([
      "max_tokens",
      "messages",
      "model",
      "stream",
      "stream_options",
      "tools",
    ]);
    expect(request("moonshot", helping)).toMatchObject({ prompt_cache_key: "k", safety_identifier: "af" });
    expect(request("mistral")).not.toHaveProperty("stream_options");
    expect(request("groq")).toMatchObject({ max_completion_tokens: 100 });
  });

  it("gives calls back under ids that the server takes, whoever made them", () => {
    const parts = [{ kind: "tool-call" as const, id: "toolu_01A", tool: "t", argumentsJson: "{}" }];
    const result = { kind: "tool-result" as const, id: "toolu_01A", tool: "t", content: "r", isError: false };
    const generation = generationOf("m", [
      { role: "assistant", parts },
      { role: "tool", parts: [result] },
    ]);
    const idsFor = (dialect: DialectName) => {
      const { messages } = chatRequest("test", generation, wholeDialect(dialect)) as {
        messages: readonly { tool_calls?: readonly { id: string }[]; tool_call_id?: string }[];
      };
      return [messages[0]!.tool_calls![0]!.id, messages[1]!.tool_call_id];
    };
    expect(idsFor("openai")).toEqual(["toolu_01A", "toolu_01A"]);
    const [short, again] = idsFor("mistral");
    expect(short).toMatch(/^[a-z0-9]{9}$/);
    expect(again).toBe(short);
  });

  it("is not made for what the server cannot do, where that would change the answer", () => {
    const impossible: readonly (readonly [DialectName, GenerationOptions])[] = [
      ["ollama", { toolChoice: { kind: "any" } }],
      ["llama", { toolChoice: { kind: "tool", tool: "t" } }],
      ["google", { parallelToolCalls: false }],
      ["google", { serviceTier: "flex" }],
      ["llama", { serviceTier: "priority" }],
      ["lmstudio", { outputFormat: { name: "a", strict: false } }],
      ["deepseek", { outputFormat: { name: "a", schema, strict: true } }],
    ];
    for (const [dialect, options] of impossible) expect(() => request(dialect, options)).toThrow(refused);
  });

  it("without wishes is the same for all but in how it names its length and asks for usage", () => {
    for (const dialect of DIALECT_NAMES) {
      const { max_tokens: one, max_completion_tokens: other, stream_options: _, ...rest } = request(dialect);
      expect(one ?? other).toBe(100);
      expect(Object.keys(rest)).toEqual(["model", "messages", "tools", "stream"]);
    }
  });
});

it("tells servers by their address, and those that people run by what they say of their models", () => {
  const urls = ["https://generativelanguage.googleapis.com/v1beta/openai", "https://api.x.ai/v1", "https://openrouter.ai/api/v1"];
  expect(urls.map(dialectOfUrl)).toEqual(["google", "xai", "openrouter"]);
  expect(["https://api.mistral.ai.evil.example/v1", "http://127.0.0.1:8000/v1"].map(dialectOfUrl)).toEqual([undefined, undefined]);
  expect(["vllm", "library", 7, undefined].map(dialectOfOwner)).toEqual(["vllm", "ollama", undefined, undefined]);
});
