import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

export interface DoorQuestion {
  readonly model: string;
  readonly text: string;
  /** It may have. */
  readonly tokens: number;
}

/** What a program makes of an answer. */
export interface DoorAnswer {
  readonly text: string;
  /** The protocol's own word for the end was there. */
  readonly hasEnded: boolean;
  readonly outputTokens: number;
  /** What the SDK threw; empty where it did not. */
  readonly error: string;
}

export interface DoorClient {
  readonly stream: (question: DoorQuestion, onPiece: () => void) => Promise<DoorAnswer>;
  readonly whole: (question: DoorQuestion) => Promise<DoorAnswer>;
}

type Draft = { -readonly [Field in keyof DoorAnswer]: DoorAnswer[Field] };

/** The stock SDKs at the doors of an edge; none asks a second time. @param url of the edge */
export function doorClients(url: string, apiKey: string): Record<"chat" | "responses" | "messages", DoorClient> {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
  const chatBody = ({ model, text, tokens }: DoorQuestion) => ({
    model,
    messages: [{ role: "user" as const, content: text }],
    max_tokens: tokens,
    temperature: 0,
  });
  const responseBody = ({ model, text, tokens }: DoorQuestion) => ({ model, input: text, max_output_tokens: tokens, temperature: 0 });
  return {
    chat: {
      stream: (question, onPiece) =>
        read(async (draft) => {
          const body = { ...chatBody(question), stream: true as const, stream_options: { include_usage: true } };
          for await (const { choices, usage } of await openai.chat.completions.create(body)) {
            const piece = choices[0]?.delta.content ?? "";
            draft.text += piece;
            draft.hasEnded ||= typeof choices[0]?.finish_reason === "string";
            draft.outputTokens += usage?.completion_tokens ?? 0;
            if (piece !== "") onPiece();
          }
        }),
      whole: (question) =>
        read(async (draft) => {
          const { choices, usage } = await openai.chat.completions.create(chatBody(question));
          Object.assign(draft, { text: choices[0]!.message.content, hasEnded: true, outputTokens: usage!.completion_tokens });
        }),
    },
    responses: {
      stream: (question, onPiece) =>
        read(async (draft) => {
          for await (const event of await openai.responses.create({ ...responseBody(question), stream: true })) {
            if (event.type === "response.completed" || event.type === "response.incomplete") {
              draft.hasEnded = true;
              draft.outputTokens += event.response.usage!.output_tokens;
            }
            if (event.type !== "response.output_text.delta") continue;
            draft.text += event.delta;
            onPiece();
          }
        }),
      whole: (question) =>
        read(async (draft) => {
          const { output_text: text, usage } = await openai.responses.create(responseBody(question));
          Object.assign(draft, { text, hasEnded: true, outputTokens: usage!.output_tokens });
        }),
    },
    messages: {
      stream: (question, onPiece) =>
        read(async (draft) => {
          for await (const event of await anthropic.messages.create({ ...chatBody(question), stream: true })) {
            if (event.type === "message_stop") draft.hasEnded = true;
            if (event.type === "message_delta") draft.outputTokens += event.usage.output_tokens;
            if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") continue;
            draft.text += event.delta.text;
            onPiece();
          }
        }),
      whole: (question) =>
        read(async (draft) => {
          const { content, usage } = await anthropic.messages.create(chatBody(question));
          const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
          Object.assign(draft, { text, hasEnded: true, outputTokens: usage.output_tokens });
        }),
    },
  };
}

/** Never rejects: what the SDK throws is part of the answer. */
async function read(ask: (draft: Draft) => Promise<void>): Promise<DoorAnswer> {
  const draft: Draft = { text: "", hasEnded: false, outputTokens: 0, error: "" };
  try {
    await ask(draft);
  } catch (thrown) {
    draft.error = String(thrown);
  }
  return draft;
}
