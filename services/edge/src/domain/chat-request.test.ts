import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { readChatRequest, type ChatRequest } from "./chat-request.ts";

function outcome(body: string): ChatRequest | HlvmError {
  try {
    return readChatRequest(body);
  } catch (cause) {
    if (cause instanceof HlvmError) return cause;
    throw cause;
  }
}

function isSound(read: ChatRequest | HlvmError): boolean {
  if (read instanceof HlvmError) return read.code === "invalid_argument" && read.advice !== "";
  return read.prompt.trim() !== "" && read.workspace + read.sessionId !== "";
}

describe("readChatRequest", () => {
  it("reads any body, or says in our words what is wrong with it", () => {
    const field = fc.constantFrom(
      "messages",
      "model",
      "session_id",
      "workspace",
      "permission_mode",
      "allowed_tools",
      "stateless",
      "__proto__",
      "x",
    );
    const bodies = fc.oneof(
      fc.string(),
      fc.json(),
      fc.dictionary(field, fc.jsonValue()).map((fields) => JSON.stringify(fields)),
    );
    fc.assert(
      fc.property(bodies, (body) => {
        expect(isSound(outcome(body))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("takes the last message of the user, unchanged, whatever stands around it", () => {
    const message = fc.record({ role: fc.constantFrom("system", "user", "assistant"), content: fc.string() });
    const question = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => text.trim() !== "");
    fc.assert(
      fc.property(fc.array(message), question, fc.array(message), (before, content, after) => {
        const rest = after.filter(({ role }) => role !== "user");
        const body = JSON.stringify({ workspace: "/", messages: [...before, { role: "user", content }, ...rest] });
        expect(readChatRequest(body).prompt).toBe(content);
      }),
    );
  });
});
