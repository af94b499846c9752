import { expect, it } from "vitest";
import { generationOf, said } from "../suite/generations.ts";
import { openaiRequest } from "./openai-request.ts";

it("keeps system messages where they are, stores nothing and asks for reasoning back", () => {
  const request = openaiRequest(
    generationOf("gpt-5.5", [
      said("system", "Prefix."),
      said("user", "Look."),
      {
        role: "assistant",
        parts: [
          { kind: "text", text: "Yes." },
          { kind: "tool-call", id: "1", tool: "t", argumentsJson: '{"a":1}' },
        ],
      },
      { role: "tool", parts: [{ kind: "tool-result", id: "1", tool: "t", content: "r", isError: false }] },
      said("system", "Mind the time."),
    ]),
  );
  expect(request).toMatchObject({ store: false, include: ["reasoning.encrypted_content"], max_output_tokens: 100 + 16_384 });
  expect(request.input).toEqual([
    { type: "message", role: "developer", content: "Prefix." },
    { type: "message", role: "user", content: "Look." },
    { type: "message", role: "assistant", content: "Yes." },
    { type: "function_call", call_id: "1", name: "t", arguments: '{"a":1}' },
    { type: "function_call_output", call_id: "1", output: "r" },
    { type: "message", role: "developer", content: "Mind the time." },
  ]);
});

it("gives calls back under ids and names that OpenAI takes, whoever made them", () => {
  const id = "x".repeat(65);
  const { input } = openaiRequest(
    generationOf("gpt-5.5", [
      { role: "assistant", parts: [{ kind: "tool-call", id, tool: "functions.read file", argumentsJson: "{}" }] },
      { role: "tool", parts: [{ kind: "tool-result", id, tool: "functions.read file", content: "r", isError: false }] },
    ]),
  );
  const fits = expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(input).toMatchObject([{ call_id: fits, name: fits }, { call_id: fits }]);
  const [call, result] = input as { call_id: string }[];
  expect(result!.call_id).toBe(call!.call_id);
});

it("asks a model that does not reason for no reasoning", () => {
  const request = openaiRequest({ ...generationOf("gpt-4.1", [said("user", "?")]), temperature: 0.2 });
  expect(request).toMatchObject({ temperature: 0.2, max_output_tokens: 100 });
  expect(request).not.toHaveProperty("reasoning");
});
