import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { promisify } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ListSessionsResponseSchema, SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "../create-mesh-transport.ts";
import { failureOf } from "../testing/failure-of.ts";
import { RawPeer } from "../testing/raw-peer.ts";
import { serveSessions } from "../testing/serve-sessions.ts";

const LIST = toBinary(ListSessionsResponseSchema, create(ListSessionsResponseSchema, {}));
const PING_INTERVAL_MILLISECONDS = 15_000;
const PING_TIMEOUT_MILLISECONDS = 5_000;
const EXIT_LIMIT_MILLISECONDS = 10_000;
const NO_DEADLINE = { timeoutMs: 0 };
const TRANSPORT = new URL("../create-mesh-transport.ts", import.meta.url).href;

describe("a connection to a service that freezes", () => {
  let peer: RawPeer;
  let url: string;
  let freeze: () => void;
  let stop: () => void;

  /** What stands between hears both, and stops to when it freezes. */
  beforeEach(async () => {
    peer = await RawPeer.listen();
    const sockets: Socket[] = [];
    const between = createServer((socket) => {
      const onward = connect(peer.port, "127.0.0.1");
      sockets.push(socket, onward);
      for (const each of [socket, onward]) each.on("error", () => undefined);
      socket.pipe(onward).pipe(socket);
    });
    between.listen(0, "127.0.0.1");
    await once(between, "listening");
    url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    freeze = () => {
      for (const socket of sockets) socket.unpipe().resume();
    };
    stop = () => {
      between.close();
      for (const socket of sockets) socket.destroy();
    };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  });

  afterEach(async () => {
    vi.useRealTimers();
    stop();
    await peer.stop();
  });

  it("is cut with its calls once a ping is not answered", async () => {
    const client = createClient(SessionService, createMeshTransport(url));
    const calls = [client.listSessions({}, NO_DEADLINE), client.listSessions({}, NO_DEADLINE)];
    const failed = calls.map(failureOf);
    const line = await peer.nextLine();
    for (const _ of calls) await line.next();
    freeze();
    await vi.advanceTimersByTimeAsync(PING_INTERVAL_MILLISECONDS + PING_TIMEOUT_MILLISECONDS);
    for (const call of failed) expect((await call).code).toBe(Code.Unavailable);
  });

  it("is asked at once when a call comes after a silence", async () => {
    const client = createClient(SessionService, createMeshTransport(url));
    const first = client.listSessions({}, NO_DEADLINE);
    const line = await peer.nextLine();
    line.send((await line.next()).call, [LIST], {});
    await first;
    freeze();
    await vi.advanceTimersByTimeAsync(PING_INTERVAL_MILLISECONDS + 1);
    const failed = failureOf(client.listSessions({}, NO_DEADLINE));
    await vi.advanceTimersByTimeAsync(PING_TIMEOUT_MILLISECONDS);
    expect((await failed).code).toBe(Code.Unavailable);
  });

  it("is not asked where a call was answered lately", async () => {
    const client = createClient(SessionService, createMeshTransport(url));
    let pings = 0;
    for (let time = 0; time < 3; time++) {
      const call = client.listSessions({}, NO_DEADLINE);
      const line = peer.lines[0] ?? (await peer.nextLine());
      if (time === 0) line.stream.session!.on("ping", () => pings++);
      line.send((await line.next()).call, [LIST], {});
      await call;
      await vi.advanceTimersByTimeAsync(0.6 * PING_INTERVAL_MILLISECONDS);
    }
    expect(pings).toBe(0);
  });

  it("is kept where pings are answered, however long a call takes", async () => {
    const client = createClient(SessionService, createMeshTransport(url));
    const call = client.listSessions({}, NO_DEADLINE);
    const line = await peer.nextLine();
    const { call: number } = await line.next();
    for (let interval = 0; interval < 3; interval++) {
      const pinged = once(line.stream.session!, "ping");
      await vi.advanceTimersByTimeAsync(PING_INTERVAL_MILLISECONDS);
      await pinged;
      // What is answered after the ping arrives after its answer.
      const other = client.listSessions({}, NO_DEADLINE);
      line.send((await line.next()).call, [LIST], {});
      await other;
    }
    line.send(number, [LIST], {});
    expect(await call).toMatchObject({ sessions: [] });
    expect(peer.sessions).toHaveLength(1);
  });
});

describe("a process", () => {
  it.each([
    ["it made a call", "await client.check({})"],
    ["it waited for one without a deadline", "await client.check({}, { timeoutMs: 0 })"],
    [
      "it cancelled one",
      "const leaving = new AbortController(); const call = client.check({}, { signal: leaving.signal }); leaving.abort(); await call.catch(() => {})",
    ],
    ["one was refused before it was sent", 'await client.check({ service: "x".repeat(17 * 1024 * 1024) }).catch(() => {})'],
    ["one had a deadline that is none", "await client.check({}, { timeoutMs: 2 ** 32 }).catch(() => {})"],
  ])("ends by itself after %s", async (_name, action) => {
    const server = await serveSessions({});
    const script = [
      'import { createClient } from "@connectrpc/connect";',
      'import { Health } from "@hlvm/proto/grpc/health/v1/health_pb";',
      `import { createMeshTransport } from ${JSON.stringify(TRANSPORT)};`,
      "const client = createClient(Health, createMeshTransport(process.argv[1]));",
      `${action};`,
      'console.log("done");',
    ].join("\n");
    try {
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script, server.url], {
        cwd: import.meta.dirname,
        timeout: EXIT_LIMIT_MILLISECONDS,
      });
      expect(stdout).toBe("done\n");
    } finally {
      await server.close();
    }
  });
});
