import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A tool call that the model asks for. Text in place of an object is sent exactly as written. */
export interface HostileCall {
  readonly tool: string;
  readonly arguments: object | string;
}

/** One answer of the model. */
export interface HostileTurn {
  readonly calls: readonly HostileCall[];
  /** Awaited before the model answers: what happens outside meanwhile. */
  readonly before?: () => Promise<void> | void;
  /** What it says to have used, in place of a few tokens. */
  readonly usage?: object;
}

export interface HostileModel {
  /** An OpenAI-style base URL, `/v1` included. */
  readonly url: string;
  /** Plays the turns where the latest question contains `question`, then ends with `answer`. */
  readonly play: (question: string, turns: readonly HostileTurn[], answer: string) => void;
  /** The messages of each request in which a text stands, the latest 500 at most. */
  readonly requestsWith: (text: string) => readonly (readonly ChatMessage[])[];
  readonly close: () => Promise<void>;
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
}

/** Its name; and that of one whose window is soon full. */
export const HOSTILE_NAMES = ["hostile", "hostile-short"] as const;
const SHORT_WINDOW = 14_336;
const LISTED = HOSTILE_NAMES.map((id) => ({ id, object: "model", ...(id === "hostile" ? {} : { max_model_len: SHORT_WINDOW }) }));
const REMEMBERED_REQUESTS = 500;
const CHARACTERS_A_TOKEN = 4;
/** Of the tools' definitions. */
const TOOLS_LENGTH = 10_000;

interface Conversation {
  readonly turns: readonly HostileTurn[];
  readonly answer: string;
}

/**
 * A model that asks for exactly the tool calls of an attack. It is a server of chat completions and not a script file, since
 * a script is read when the mesh starts, and an attack often has to see what an earlier one left.
 */
export async function startHostileModel(): Promise<HostileModel> {
  const conversations = new Map<string, Conversation>();
  const requests: (readonly ChatMessage[])[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      if (request.method === "GET") return void response.end(JSON.stringify({ object: "list", data: LISTED }));
      const { messages } = JSON.parse(body) as { messages: ChatMessage[] };
      requests.push(messages);
      if (requests.length > REMEMBERED_REQUESTS) requests.shift();
      void answer(conversations, messages, response);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    play: (question, turns, last) => void conversations.set(question, { turns, answer: last }),
    requestsWith: (text) => requests.filter((messages) => messages.some(({ content }) => textOf(content).includes(text))),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(
  conversations: ReadonlyMap<string, Conversation>,
  messages: readonly ChatMessage[],
  response: ServerResponse,
): Promise<void> {
  const asked = messages.findLastIndex(({ role, content }) => role === "user" && questionIn(content, conversations) !== undefined);
  const conversation = conversations.get(questionIn(messages[asked]?.content, conversations) ?? "");
  const index = messages.slice(asked).filter(({ role }) => role === "assistant").length;
  const turn = conversation?.turns[index];
  await turn?.before?.();
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (choice: object, rest: object = {}): void => {
    const chunk = {
      id: "chat",
      object: "chat.completion.chunk",
      created: 1,
      model: "hostile",
      choices: [{ index: 0, ...choice }],
      ...rest,
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  if (turn === undefined) send({ delta: { role: "assistant", content: conversation?.answer ?? "done" }, finish_reason: null });
  else {
    const toolCalls = turn.calls.map((call, number) => ({
      index: number,
      id: `call_${index}_${number}`,
      type: "function",
      function: { name: call.tool, arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments) },
    }));
    send({ delta: { role: "assistant", content: null, tool_calls: toolCalls }, finish_reason: null });
  }
  // About as much as it is, so that what it says moves no estimate.
  const prompt = Math.ceil(messages.reduce((sum, { content }) => sum + textOf(content).length, TOOLS_LENGTH) / CHARACTERS_A_TOKEN);
  const usage = turn?.usage ?? { prompt_tokens: prompt, completion_tokens: 5, total_tokens: prompt + 5 };
  send({ delta: {}, finish_reason: turn === undefined ? "stop" : "tool_calls" }, { usage });
  response.end("data: [DONE]\n\n");
}

function questionIn(content: unknown, conversations: ReadonlyMap<string, Conversation>): string | undefined {
  const text = textOf(content);
  return [...conversations.keys()].find((question) => text.includes(question));
}

/** A message's words, of whatever parts it is made. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { readonly text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("\n");
}
