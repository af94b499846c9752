import { describe, expect, it } from "vitest";
import { generationOf, said } from "../suite/generations.ts";
import { anthropicRequest } from "./anthropic-request.ts";

const mark = { cache_control: { type: "ephemeral" } };

describe("a request to Anthropic", () => {
  const request = anthropicRequest(
    generationOf("claude-opus-5-5", [
      said("system", "Prefix."),
      said("system", "# Your Memory"),
      said("user", "Look."),
      {
        role: "assistant",
        parts: [
          { kind: "text", text: " " },
          { kind: "tool-call", id: "1", tool: "t", argumentsJson: "{oops" },
        ],
      },
      { role: "tool", parts: [{ kind: "tool-result", id: "1", tool: "t", content: "no", isError: true }] },
      said("system", "Mind the time."),
    ]),
  );

  it("marks the end of the tools, of the stable prefix and of the conversation for the cache, and nothing else", () => {
    expect(request.tools?.map((tool) => "cache_control" in tool)).toEqual([false, true]);
    expect(request.system).toEqual([
      { type: "text", text: "Prefix.", ...mark },
      { type: "text", text: "# Your Memory" },
    ]);
    expect(JSON.stringify(request).match(/ephemeral/g)?.length).toBe(3);
  });

  it("keeps turns alternating, with results first", () => {
    expect(request.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Look." }] },
      { role: "assistant", content: [{ type: "tool_use", id: "1", name: "t", input: { unparsed_arguments: "{oops" } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "1", content: "no", is_error: true },
          { type: "text", text: "<system-reminder>\nMind the time.\n</system-reminder>", ...mark },
        ],
      },
    ]);
  });

  it("gives calls back under ids and names that Anthropic takes, whoever made them", () => {
    const id = "0f8fad5b-d9cb-469f-a165-70867728950e.1.1";
    const { messages } = anthropicRequest(
      generationOf("claude-opus-5-5", [
        said("user", "Look."),
        { role: "assistant", parts: [{ kind: "tool-call", id, tool: "functions.read file", argumentsJson: "{}" }] },
        { role: "tool", parts: [{ kind: "tool-result", id, tool: "functions.read file", content: "r", isError: false }] },
      ]),
    );
    const fits = expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(messages.slice(1)).toMatchObject([
      { content: [{ type: "tool_use", id: fits, name: fits }] },
      { content: [{ type: "tool_result", tool_use_id: fits }] },
    ]);
    const [call, result] = messages.slice(1).map(({ content }) => content[0] as unknown as Record<string, string>);
    expect(result!.tool_use_id).toBe(call!.id);
  });

  it("leaves room for thinking where a model thinks unasked, and sends it no temperature", () => {
    const warm = { ...generationOf("claude-opus-5-5", [said("user", "?")]), temperature: 0.5 };
    expect(anthropicRequest(warm)).toMatchObject({ max_tokens: 100 + 16_384 });
    expect(anthropicRequest(warm)).not.toHaveProperty("temperature");
    expect(anthropicRequest({ ...warm, model: "claude-haiku-4-5" })).toMatchObject({ max_tokens: 100, temperature: 0.5 });
  });
});
