import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { DecideRequestSchema, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunPolicyService, type StreamCallsRequest, type StreamCallsResponse } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { CallStream } from "@hlvm/call-stream/call-stream";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
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
  const first = await startPeer();
  const second = await startPeer(JSON.stringify(first.tokenKeys));
  const { token } = first;
  const url = `http://127.0.0.1:${first.port}`;
  const [single, balanced] = [createMeshTransport(url), createMeshTransport(`ipv4:127.0.0.1:${first.port},127.0.0.1:${second.port}`)];
  const one = createClient(PolicyService, single);
  const oneOfTwo = createClient(PolicyService, balanced);
  const grpc = createClient(PolicyService, createGrpcTransport({ baseUrl: url }));
  const headers = { authorization: `Bearer ${token}` };
  const streamOver = (transport: Transport) =>
    new CallStream<StreamCallsRequest["request"], StreamCallsResponse["response"]>(
      RunPolicyService.method.streamCalls,
      (requests, _, signal) => createClient(RunPolicyService, transport).streamCalls(requests, { headers, signal, timeoutMs: 0 }),
    );
  const [stream, balancedStream] = [streamOver(single), streamOver(balanced)];
  const value = create(DecideRequestSchema, { call });
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    "on the stream of a run, as the contract has it": () => stream.ask({ case: "decide", value }, { token, timeoutMilliseconds: 5_000 }),
    "on the stream of a run, grpc-js over two replicas": () =>
      balancedStream.ask({ case: "decide", value }, { token, timeoutMilliseconds: 5_000 }),
    "by itself, Connect": () => one.decide({ call }, { headers }),
    "by itself, gRPC": () => grpc.decide({ call }, { headers }),
    "by itself, grpc-js over two replicas": () => oneOfTwo.decide({ call }, { headers }),
  };
  const taken: Record<string, number[]> = {};
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const [way, decide] of Object.entries(ways)) {
        const times = await measure(decide);
        taken[way] = [...(taken[way] ?? []), ...times];
      }
  } finally {
    for (const { child } of [first, second]) child.disconnect();
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

interface Peer {
  readonly port: number;
  readonly token: string;
  readonly tokenKeys: readonly object[];
}

/** @param keys public ones whose tokens it takes; without any it makes its own */
async function startPeer(...keys: string[]): Promise<Peer & { readonly child: ChildProcess }> {
  const child = fork(PEER, keys, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [told] = (await once(child, "message")) as [Peer];
  return { ...told, child };
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
