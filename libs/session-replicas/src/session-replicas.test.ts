import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { createTestIdentity, testPrincipal, type TestIdentity } from "@hlvm/testing/test-identity";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { SessionReplicas } from "./session-replicas.ts";
import { sessionTransport } from "./session-transport.ts";
import { moved, serveSandbox } from "./testing/serve-sandbox.ts";

const SESSION = "00000000-0000-4000-8000-000000000001";
type Answer = () => string;

let identity: TestIdentity;
let servers: Awaited<ReturnType<typeof serveSandbox>>[];
let answers: Answer[];
let calls: number[];

beforeAll(async () => {
  identity = await createTestIdentity();
});

/** Three replicas, of which the first is the one that callers know. */
beforeEach(async () => {
  calls = [0, 0, 0];
  answers = [0, 1, 2].map((index) => () => `replica ${index}`);
  servers = await Promise.all(
    calls.map((_, index) =>
      serveSandbox(identity, {
        listProcesses: () => {
          calls[index]!++;
          return { processes: [{ processId: 1, command: answers[index]!() }] };
        },
        execute: async function* () {
          calls[index]!++;
          yield { event: { case: "output", value: { text: answers[index]!() } } };
          yield { event: { case: "result", value: { success: true } } };
        },
      }),
    ),
  );
});
afterEach(async () => void (await Promise.all(servers.map((server) => server.close()))));

const urlOf = (index: number): string => servers[index]!.url;
const saysMovedTo = (address: string) => (): string => {
  throw moved(address);
};
const headers = () => ({ headers: { authorization: `Bearer ${identity.minter.mint(testPrincipal, "sandbox")}` } });

/** A caller; `ask` resolves with the replica that has answered. */
function caller() {
  const replicas = new SessionReplicas(createMeshTransport(urlOf(0)), []);
  const client = createClient(SandboxService, sessionTransport(replicas));
  return {
    replicas,
    ask: async (signal?: AbortSignal) =>
      (await client.listProcesses({ sessionId: SESSION }, { ...headers(), signal })).processes[0]!.command,
  };
}

const refused = (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => expect.unreachable("it should have been refused"),
    (thrown: unknown) => ConnectError.from(thrown),
  );

/** An address where nothing takes connections. */
async function deadAddress(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

describe("a call for a session", () => {
  it("goes where the session is, at once from the second on", async () => {
    answers[0] = saysMovedTo(urlOf(1));
    const { ask } = caller();
    expect([await ask(), await ask()]).toEqual(["replica 1", "replica 1"]);
    expect(calls).toEqual([1, 2, 0]);
  });

  it("follows two hops, and no more", async () => {
    answers[0] = saysMovedTo(urlOf(1));
    answers[1] = saysMovedTo(urlOf(2));
    expect(await caller().ask()).toBe("replica 2");
    answers[2] = saysMovedTo(urlOf(1));
    expect(await refused(caller().ask())).toMatchObject({ code: Code.Unavailable });
  });

  it.each(["ftp://127.0.0.1:1", "file:///etc/passwd", "127.0.0.1:1", ""])("does not go to %j", async (address) => {
    answers[0] = saysMovedTo(address);
    expect(await refused(caller().ask())).toMatchObject({ code: Code.FailedPrecondition });
    expect(calls).toEqual([1, 0, 0]);
  });

  it("asks the first address again when the replica that it knows is gone", async () => {
    answers[0] = saysMovedTo(urlOf(1));
    const { ask } = caller();
    await ask();
    await servers[1]!.close();
    answers[0] = saysMovedTo(urlOf(2));
    expect(await ask()).toBe("replica 2");
  });

  it("asks the first address again when the session is no longer where it was", async () => {
    answers[0] = saysMovedTo(urlOf(1));
    const { ask } = caller();
    await ask();
    answers[1] = () => {
      throw new ConnectError("not open", Code.NotFound);
    };
    expect(await refused(ask())).toMatchObject({ code: Code.NotFound });
    answers[0] = () => "replica 0";
    expect(await ask()).toBe("replica 0");
  });

  it("waits while the others still name a replica that is gone", async () => {
    const dead = saysMovedTo(await deadAddress());
    let left = 4;
    answers[0] = () => (left-- > 0 ? dead() : "replica 0");
    expect(await caller().ask()).toBe("replica 0");
    expect(calls[0]).toBe(5);
  });

  it("stops waiting when its caller leaves", async () => {
    const dead = saysMovedTo(await deadAddress());
    const cancelled = new AbortController();
    answers[0] = () => {
      if (calls[0]! > 2) cancelled.abort();
      return dead();
    };
    expect(await refused(caller().ask(cancelled.signal))).toMatchObject({ code: Code.Canceled });
  });

  it("with a stream of responses follows too, until the first response", async () => {
    answers[0] = saysMovedTo(urlOf(1));
    const { replicas } = caller();
    const request = {
      call: { sessionId: SESSION, runId: SESSION, callId: "1", tool: "x", argumentsJson: "{}", definitionHash: "0".repeat(64) },
    };
    const texts: string[] = [];
    const events = replicas.stream(SESSION, (transport) =>
      createClient(SandboxService, transport).execute({ ...request, grant: "g" }, headers()),
    );
    for await (const { event } of events) if (event.case === "output") texts.push(event.value.text);
    expect(texts).toEqual(["replica 1"]);
  });
});
