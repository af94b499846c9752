import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { DecideRequestSchema, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunPolicyService, type StreamCallsRequest, type StreamCallsResponse } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { CallStream } from "@hlvm/rpc/call-stream";
import { createMeshTransport } from "@hlvm/rpc/create-mesh-transport";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const PEER = fileURLToPath(new URL("mesh-call-peer.ts", import.meta.url));
/** As an agent makes them: in a tight loop every one of them costs a fraction, and the difference is another. */
const PAUSE_MILLISECONDS = 8;
const CALLS = 300;
const CALLS_TO_WARM_UP = 300;
const ROUNDS = 2;

const call = {
  sessionId: crypto.randomUUID(),
  runId: crypto.randomUUID(),
  callId: "run.1.1",
  tool: "shell_exec",
  argumentsJson: '{"command":"echo hi"}',
  definitionHash: "a".repeat(64),
};

/** A call from one service to another, by the ways that there are, the ways in turn. */
export async function benchMeshCall(): Promise<void> {
  const peer = fork(PEER, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [{ port, token }] = (await once(peer, "message")) as [{ port: number; token: string }];
  const url = `http://127.0.0.1:${port}`;
  const transport = createMeshTransport(url);
  const one = createClient(PolicyService, transport);
  const many = createClient(RunPolicyService, transport);
  const grpc = createClient(PolicyService, createGrpcTransport({ baseUrl: url }));
  const headers = { authorization: `Bearer ${token}` };
  const stream = new CallStream<StreamCallsRequest["request"], StreamCallsResponse["response"]>(
    RunPolicyService.method.streamCalls,
    (requests, _, signal) => many.streamCalls(requests, { headers, signal, timeoutMs: 0 }),
  );
  const value = create(DecideRequestSchema, { call });
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    "on the stream of a run, as the contract has it": () => stream.ask({ case: "decide", value }, { token, timeoutMilliseconds: 5_000 }),
    "by itself, Connect": () => one.decide({ call }, { headers }),
    "by itself, gRPC": () => grpc.decide({ call }, { headers }),
  };
  const taken: Record<string, number[]> = {};
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const [way, decide] of Object.entries(ways)) {
        const times = await measure(decide);
        taken[way] = [...(taken[way] ?? []), ...times];
      }
  } finally {
    peer.disconnect();
  }
  printTable(
    `A call between services, one every ${PAUSE_MILLISECONDS} ms, microseconds`,
    Object.entries(taken).map(([way, times]) => ({
      way,
      p50: Math.round(quantile(times, 0.5) * 1_000),
      p95: Math.round(quantile(times, 0.95) * 1_000),
    })),
  );
}

async function measure(decide: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < CALLS_TO_WARM_UP + CALLS; index++) {
    const began = performance.now();
    await decide();
    if (index >= CALLS_TO_WARM_UP) times.push(performance.now() - began);
    await sleep(PAUSE_MILLISECONDS);
  }
  return times;
}
