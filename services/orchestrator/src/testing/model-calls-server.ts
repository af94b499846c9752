import { create } from "@bufbuild/protobuf";
import { createClient, type Client, type HandlerContext } from "@connectrpc/connect";
import { answerCalls } from "@hlvm/call-stream/answer-calls";
import type { Principal } from "@hlvm/identity/principal";
import { FinishReason, GenerateResponseSchema, ModelService, type GenerateResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { MeshCaller } from "../adapters/mesh/mesh-caller.ts";

export type Asked = "generate" | "resume";

export interface ModelCallsServer {
  readonly client: Client<typeof ModelService>;
  readonly callerOf: (principal?: Principal) => MeshCaller;
  /** What was asked of it. */
  readonly asked: Asked[];
  /** That are open, and that ever were. */
  readonly streams: { open: number; opened: number };
  /** How the next calls are answered; `call` counts them from 1. */
  answer: (call: number, context: HandlerContext, asked: Asked) => AsyncIterable<GenerateResponse>;
  readonly close: () => Promise<void>;
}

/** In the place of a model gateway: how it answers calls on streams is the test's. */
export async function startModelCallsServer(): Promise<ModelCallsServer> {
  const identity = await createTestIdentity();
  const asked: Asked[] = [];
  const streams = { open: 0, opened: 0 };
  const rpc = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: identity.verifier("model-gateway"),
    routes: (router) =>
      void router.service(ModelService, {
        async *streamCalls(requests, stream) {
          streams.open++;
          streams.opened++;
          try {
            yield* answerCalls(requests, stream, {
              async *answer(request, context) {
                const number = asked.push(request.case as Asked);
                for await (const value of server.answer(number, context, request.case as Asked)) yield { case: "generate" as const, value };
              },
              isLast: ({ value }) => value.event.case === "finish",
              joins: true,
            });
          } finally {
            streams.open--;
          }
        },
      }),
  });
  const callerOf = (principal = testPrincipal): MeshCaller =>
    new MeshCaller(identity.runMinter, { principal, delegation: identity.delegate({ principal }) }, "model-gateway");
  const client = createClient(ModelService, createMeshTransport(`http://127.0.0.1:${rpc.port}`));
  const server: ModelCallsServer = { client, callerOf, asked, streams, answer: async function* () {}, close: () => rpc.close() };
  return server;
}

export const resumeToken = (resumed = false): GenerateResponse =>
  create(GenerateResponseSchema, { event: { case: "alive", value: { resumed } }, resumeToken: "token", resumeSeconds: 5 });
export const textDelta = (value: string, sequence: bigint): GenerateResponse =>
  create(GenerateResponseSchema, { event: { case: "textDelta", value }, sequence, digest: Number(sequence) });
export const finish = (sequence: bigint): GenerateResponse =>
  create(GenerateResponseSchema, { event: { case: "finish", value: { reason: FinishReason.STOP } }, sequence, digest: Number(sequence) });
