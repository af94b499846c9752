import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { repairToolCalls } from "./repair-tool-calls.ts";

const tools = new Set(["read_file", "list_files"]);

describe("repairToolCalls", () => {
  it.each([
    ['```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```', '{"path":"a"}'],
    ['<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>', '{"path":"a"}'],
    ['{"tool":"read_file","parameters":{"path":"a"}}</tool_call>', '{"path":"a"}'],
    ['{"function":{"name":"read_file","arguments":"{\\"path\\":\\"a\\"}"}}', '{"path":"a"}'],
    ['{"name":"read_file"}', "{}"],
  ])("finds the call in %s", (text, argumentsJson) => {
    expect(repairToolCalls(text, tools)).toEqual({ calls: [{ tool: "read_file", argumentsJson }], text: "" });
  });

  it("keeps the text around several calls", () => {
    const text = 'First {this}: {"name":"list_files","args":{}} then {"name":"read_file","args":{"path":"{"}} end';
    expect(repairToolCalls(text, tools)).toEqual({
      calls: [
        { tool: "list_files", argumentsJson: "{}" },
        { tool: "read_file", argumentsJson: '{"path":"{"}' },
      ],
      text: "First {this}:  then  end",
    });
  });

  it("takes no JSON for a call that names no known tool", () => {
    expect(repairToolCalls('{"name":"Ada","arguments":{}}', tools)).toBeUndefined();
    expect(repairToolCalls('{"name":"read_file"', tools)).toBeUndefined();
  });

  it("gets along with any text", () => {
    const pieces = fc.constantFrom("{", "}", '"', "\\", "name", "read_file", ":", ",", "[", "]", "null", "<tool_call>", "x");
    fc.assert(
      fc.property(
        fc.array(pieces).map((all) => all.join("")),
        (text) => {
          const repaired = repairToolCalls(text, tools);
          for (const call of repaired?.calls ?? []) expect(tools).toContain(call.tool);
        },
      ),
    );
  });
});
