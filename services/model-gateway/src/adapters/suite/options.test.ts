import { describe, expect, it } from "vitest";
import type { Generation, GenerationOptions } from "../../domain/generation.ts";
import { anthropicRequest } from "../anthropic/anthropic-request.ts";
import { openaiRequest } from "../openai/openai-request.ts";
import { generationOf, said } from "./generations.ts";

const asked = (model: string, options: GenerationOptions): Generation => ({ ...generationOf(model, [said("user", "?")]), ...options });
const schema = { type: "object", properties: { a: { type: "number" } } };
const outputFormat = { name: "answer", schema, strict: true };
const image = { mediaType: "image/png", data: new Uint8Array([1, 2, 3]), width: 1, height: 1 };
const result: Generation["messages"][number] = {
  role: "tool",
  parts: [{ kind: "tool-result", id: "c", tool: "t", content: "seen", isError: false, images: [image] }],
};
const refused = { class: "permanent", reason: "request_not_supported" };

describe("a request to Anthropic", () => {
  const request = (options: GenerationOptions, model = "claude-opus-5-5") => anthropicRequest(asked(model, options));

  it("has what was asked for in its words", () => {
    expect(request({ toolChoice: { kind: "any" }, parallelToolCalls: false }).tool_choice).toEqual({
      type: "any",
      disable_parallel_tool_use: true,
    });
    expect(request({ toolChoice: { kind: "tool", tool: "read_file" } }).tool_choice).toEqual({ type: "tool", name: "read_file" });
    expect(request({ toolChoice: { kind: "none" } }).tool_choice).toEqual({ type: "none" });
    expect(request({ parallelToolCalls: false }).tool_choice).toEqual({ type: "auto", disable_parallel_tool_use: true });
    expect(request({ stopSequences: ["END"], userHash: "af", serviceTier: "priority" })).toMatchObject({
      stop_sequences: ["END"],
      metadata: { user_id: "af" },
      service_tier: "auto",
    });
    expect(request({ outputFormat }).output_config).toEqual({ format: { type: "json_schema", schema } });
  });

  it("thinks as long as the model sees fit, or for so many tokens on top of the answer's, where it can", () => {
    expect(request({ effort: "maximum" })).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "max" } });
    expect(request({ effort: "none" })).toMatchObject({ thinking: { type: "disabled" }, max_tokens: 100 });
    const older = request({ effort: "medium" }, "claude-sonnet-4-5");
    expect(older).toMatchObject({ thinking: { type: "enabled", budget_tokens: 8_192 }, max_tokens: 100 + 8_192 });
    expect(request({ effort: "low" }, "claude-3-haiku-20240307")).toMatchObject({ max_tokens: 100 });
    expect(request({ effort: "low" }, "claude-3-haiku-20240307")).not.toHaveProperty("thinking");
  });

  it("keeps its prefix in the cache for an hour where that is asked for, and takes strict tools and pictures of tools", () => {
    const tools = generationOf("m", []).tools.map((tool) => ({ ...tool, isStrict: true }));
    const {
      system,
      tools: offered,
      messages,
    } = anthropicRequest({
      ...asked("claude-opus-5-5", { cacheHour: true }),
      tools,
      messages: [said("system", "Prefix."), said("user", "?"), result],
    });
    const hour = { type: "ephemeral", ttl: "1h" };
    expect(system).toMatchObject([{ cache_control: hour }]);
    expect(offered).toMatchObject([{ strict: true }, { strict: true, cache_control: hour }]);
    expect(messages.at(-1)).toMatchObject({
      content: [
        { type: "text" },
        { type: "tool_result", content: [{ type: "text", text: "seen" }, { type: "image" }], cache_control: hour },
      ],
    });
  });

  it("is not made for what Anthropic cannot do", () => {
    expect(() => request({ serviceTier: "flex" })).toThrow(expect.objectContaining(refused));
    expect(() => request({ outputFormat: { name: "any", strict: false } })).toThrow(expect.objectContaining(refused));
  });
});

describe("a request to OpenAI", () => {
  const request = (options: GenerationOptions, model = "gpt-5.5") => openaiRequest(asked(model, options));

  it("has what was asked for in its words", () => {
    expect(request({ toolChoice: { kind: "any" }, parallelToolCalls: false })).toMatchObject({
      tool_choice: "required",
      parallel_tool_calls: false,
    });
    expect(request({ toolChoice: { kind: "tool", tool: "read_file" } }).tool_choice).toEqual({ type: "function", name: "read_file" });
    expect(request({ effort: "maximum" }).reasoning).toEqual({ summary: "auto", effort: "xhigh" });
    expect(request({ cacheKey: "k", cacheHour: true, userHash: "af", serviceTier: "flex" })).toMatchObject({
      prompt_cache_key: "k",
      prompt_cache_retention: "24h",
      safety_identifier: "af",
      service_tier: "flex",
    });
    expect(request({ outputFormat }).text).toEqual({ format: { type: "json_schema", name: "answer", schema, strict: true } });
    expect(request({ outputFormat: { name: "any", strict: false } }).text).toEqual({ format: { type: "json_object" } });
    expect(request({ topP: 0.5 }, "gpt-4.1")).toMatchObject({ top_p: 0.5 });
  });

  it("takes pictures of tools", () => {
    const { input } = openaiRequest(generationOf("gpt-5.5", [result]));
    expect(input).toMatchObject([
      {
        output: [
          { type: "input_text", text: "seen" },
          { type: "input_image", image_url: "data:image/png;base64,AQID" },
        ],
      },
    ]);
  });

  it("is not made for what OpenAI cannot do", () => {
    expect(() => request({ stopSequences: ["END"] })).toThrow(expect.objectContaining(refused));
    expect(request({ effort: "low" }, "gpt-4.1")).not.toHaveProperty("reasoning");
  });
});
