import { Code, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DrainReason, InstanceState, PoolService } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { answerChat, FakeLlama } from "../testing/fake-llama.ts";
import { LlamaProvider } from "../adapters/llama/llama-provider.ts";
import { ask, generationOf, said } from "../adapters/suite/generations.ts";
import { poolRoutes } from "./pool-routes.ts";

const replica = { index: 1, count: 2 };
let server: RpcServer;
let provider: LlamaProvider;
let options: ReturnType<typeof outgoing>;
const fakes: FakeLlama[] = [];

beforeAll(async () => {
  const { minter, verifier } = await createTestIdentity();
  fakes.push(new FakeLlama({ "/props": { total_slots: 4 }, "/v1/models": { data: [{ id: "m" }] } }));
  const urls = await Promise.all(fakes.map((fake) => fake.start()));
  provider = new LlamaProvider({ urls: [urls[0]!.replace("http://", "http://ada:secret@"), "http://127.0.0.1:1"], replica });
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: poolRoutes({ pool: provider.pool, replica, log: testLog }),
    services: [PoolService.typeName],
    authenticate: verifier("model-gateway"),
  });
  options = outgoing({
    token: minter.mint(testPrincipal, "model-gateway"),
    signal: new AbortController().signal,
    remainingMilliseconds: () => 30_000,
  });
});
afterAll(async () => {
  await server.close();
  for (const fake of fakes) fake.stop();
});

it("shows what each server has and does, drains one without cutting it, and takes it in again", async () => {
  const client = createClient(PoolService, createMeshTransport(`http://127.0.0.1:${server.port}`));
  const [fake] = fakes;
  const working = ask(provider, generationOf("m", [said("user", "Hello?")]));
  const chat = await fake!.chat(0);
  const shown = await client.listPool({}, options);
  expect(shown).toMatchObject({ replica: 2, replicas: 2, queuedInteractive: 0, queuedBatch: 0, discoveryError: "" });
  expect(shown.instances).toMatchObject([
    { url: fake!.url, state: InstanceState.READY, models: [{ name: "m", contextWindow: 4_096 }], slots: 4, ownSlots: 2, inFlight: 1 },
    { url: "http://127.0.0.1:1", state: InstanceState.FAILING, lastError: expect.stringContaining("ECONNREFUSED") },
  ]);

  const { instance } = await client.drainInstance({ url: fake!.url }, options);
  expect(instance).toMatchObject({
    state: InstanceState.DRAINING,
    drainReason: DrainReason.ASKED,
    lastError: "user:test drained it",
    inFlight: 1,
  });
  await expect(ask(provider, generationOf("m", [said("user", "Hello?")]))).rejects.toMatchObject({ reason: "servers_drained" });
  answerChat(chat);
  expect((await working).at(-1)).toMatchObject({ kind: "finish", reason: "stop" });

  const resumed = await client.resumeInstance({ url: fake!.url }, options);
  expect(resumed.instance).toMatchObject({ state: InstanceState.READY, inFlight: 0, answers: 1n });
  fake!.onChat = answerChat;
  await ask(provider, generationOf("m", [said("user", "Hello?")]));
  await expect(client.drainInstance({ url: "http://elsewhere" }, options)).rejects.toMatchObject({ code: Code.NotFound });
});
