import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { joined } from "@hlvm/call-stream/joined";
import { MessageQueue } from "@hlvm/call-stream/message-queue";
import { Agent } from "undici";
import {
  FinishReason,
  GenerateResponseSchema,
  ModelService,
  StreamCallsResponseSchema,
  type GenerateRequest,
  type GenerateResponse,
  type StreamCallsRequest,
  type StreamCallsResponse,
} from "@hlvm/proto/hlvm/model/v1/model_pb";

/**
 * The least that a gateway with this contract takes on stock transports: connect-node's streams on one side, undici on the
 * other, one message for what comes at the same time, and nothing checked, decided, limited or observed.
 */
const upstream = new URL(process.argv[2]!);
const path = `${upstream.pathname}/chat/completions`;
const headers = { "content-type": "application/json" };
const agent = new Agent();
const MAXIMUM_UNSENT = 64;

async function* streamCalls(requests: AsyncIterable<StreamCallsRequest>): AsyncGenerator<StreamCallsResponse, void> {
  const out = new MessageQueue<StreamCallsResponse>(MAXIMUM_UNSENT);
  const read = async (): Promise<void> => {
    for await (const { head, request } of requests)
      if (request.case === "generate") answer(head!.id, request.value, out).catch((thrown: unknown) => out.fail(thrown));
    out.end();
  };
  read().catch((thrown: unknown) => out.fail(thrown));
  for await (const first of out) yield await joined(first, out, isEnd);
}

async function answer(id: number, { model, messages }: GenerateRequest, out: MessageQueue<StreamCallsResponse>): Promise<void> {
  const content = String(messages[0]!.parts[0]!.part.value);
  const body = JSON.stringify({ model: model.slice(model.indexOf("/") + 1), stream: true, messages: [{ role: "user", content }] });
  const { body: answered } = await agent.request({ origin: upstream.origin, path, method: "POST", headers, body });
  for await (const piece of answered) for (const response of responsesIn(String(piece), id)) await out.push(response);
}

function isEnd({ response }: StreamCallsResponse): boolean {
  return response.case === "generate" && response.value.event.case === "finish";
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string }; readonly finish_reason: string | null }[];
}

function responsesIn(piece: string, id: number): StreamCallsResponse[] {
  const values: GenerateResponse[] = [];
  for (const event of piece.split("\n\n")) {
    if (!event.startsWith("data: {")) continue;
    const { choices } = JSON.parse(event.slice("data: ".length)) as Chunk;
    const { delta, finish_reason: finish } = choices[0]!;
    if (delta.content !== undefined) values.push(create(GenerateResponseSchema, { event: { case: "textDelta", value: delta.content } }));
    if (finish !== null) values.push(create(GenerateResponseSchema, { event: { case: "finish", value: { reason: FinishReason.STOP } } }));
  }
  return values.map((value) => create(StreamCallsResponseSchema, { id, response: { case: "generate", value } }));
}

const server = createServer(connectNodeAdapter({ routes: (router) => router.service(ModelService, { streamCalls }) }));
server.listen(0, "127.0.0.1", () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on("disconnect", () => process.exit());
