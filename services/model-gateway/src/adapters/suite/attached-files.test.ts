import { describe, expect, it } from "vitest";
import type { Message } from "../../domain/generation.ts";
import { describeHosted } from "../../domain/hosted-models.ts";
import { anthropicCount, anthropicRequest } from "../anthropic/anthropic-request.ts";
import { wholeDialect } from "../chat-completions/dialect.ts";
import { chatRequest } from "../chat-completions/chat-request.ts";
import { estimateUsage } from "../estimate-usage.ts";
import { openaiCount, openaiRequest } from "../openai/openai-request.ts";
import { generationOf, said } from "./generations.ts";

const data = new Uint8Array([1, 2, 3]);
const asked: Message = {
  role: "user",
  parts: [
    { kind: "image", mediaType: "image/png", data, width: 640, height: 480 },
    { kind: "document", mediaType: "application/pdf", data, name: "paper.pdf" },
    { kind: "text", text: "What is this?" },
  ],
};

describe("an image and a document", () => {
  it("go to Anthropic as blocks, also where they are counted", () => {
    const content = [
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AQID" } },
      { type: "document", title: "paper.pdf", source: { type: "base64", media_type: "application/pdf", data: "AQID" } },
      { type: "text", text: "What is this?" },
    ];
    const generation = generationOf("claude-opus-5-5", [asked]);
    expect(anthropicRequest(generation).messages).toMatchObject([{ role: "user", content }]);
    expect(anthropicCount(generation).messages).toMatchObject([{ role: "user", content }]);
  });

  it("go to OpenAI as input items, also where they are counted", () => {
    const content = [
      { type: "input_image", detail: "auto", image_url: "data:image/png;base64,AQID" },
      { type: "input_file", filename: "paper.pdf", file_data: "data:application/pdf;base64,AQID" },
      { type: "input_text", text: "What is this?" },
    ];
    const generation = generationOf("gpt-5.5", [asked]);
    expect(openaiRequest(generation).input).toEqual([{ type: "message", role: "user", content }]);
    expect(openaiCount(generation).input).toEqual([{ type: "message", role: "user", content }]);
  });

  it("go to servers of chat completions as parts of one message, with what else the user said", () => {
    const { messages } = chatRequest("test", generationOf("m", [said("user", "Hello."), asked]), wholeDialect("unknown")) as {
      messages: unknown;
    };
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Hello." },
          { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
          { type: "text", text: "What is this?" },
        ],
      },
    ]);
  });

  it("are estimated by what is seen of them where nobody counts", () => {
    const tokens = ({ parts }: Message) => estimateUsage(generationOf("m", [{ role: "user", parts }]), "").input;
    const without = tokens({ ...asked, parts: asked.parts.slice(2) });
    expect(tokens(asked) - without).toBeGreaterThanOrEqual((640 * 480) / 750 - 1);
  });

  it.each([
    ["anthropic", "claude-opus-5-5", true, true],
    ["anthropic", "claude-3-haiku-20240307", true, false],
    ["anthropic", "claude-2.1", false, false],
    ["openai", "gpt-5.5", true, true],
    ["openai", "gpt-4o", true, true],
    ["openai", "o3-mini", false, false],
  ] as const)("are taken or not by a model of %s: %s", (provider, name, takesImages, takesDocuments) => {
    expect(describeHosted(provider, name)).toMatchObject({ takesImages, takesDocuments });
  });
});
