import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  InstanceState,
  ListPoolResponseSchema,
  PoolInstanceSchema,
  PoolService,
  type PoolInstance,
} from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { testLog } from "@hlvm/testing/test-log";
import { runHlvm } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const one = create(PoolInstanceSchema, {
  url: "http://one:8080",
  state: InstanceState.READY,
  since: timestampFromMs(Date.UTC(2026, 10, 23)),
  models: [{ name: "small", contextWindow: 8_192 }],
  slots: 4,
  ownSlots: 2,
  inFlight: 1,
  inFlightElsewhere: 1,
  answers: 7n,
  promptTokens: 1_000n,
  expectedCachedTokens: 800n,
  cachedTokens: 750n,
});

async function edge(): Promise<string> {
  const state = (url: string, next: InstanceState): { instance: PoolInstance } => ({
    instance: create(PoolInstanceSchema, { ...one, url, state: next }),
  });
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: (router) => {
      router.service(PoolService, {
        listPool: () => create(ListPoolResponseSchema, { instances: [one], queuedInteractive: 3, queuedBatch: 5, replica: 2, replicas: 2 }),
        drainInstance: ({ url }) => state(url, InstanceState.DRAINING),
        resumeInstance: ({ url }) => state(url, InstanceState.READY),
      });
    },
    services: [PoolService.typeName],
    authenticate: (next) => next,
  });
  onTestFinished(() => server.close());
  return `http://127.0.0.1:${server.port}`;
}

describe("hlvm model pool", () => {
  it("shows servers, their slots and their caches, and who waits", async () => {
    const edgeUrl = await edge();
    const [shown, json] = [runHlvm(["model", "pool"], { edgeUrl }), runHlvm(["model", "pool", "--json"], { edgeUrl })];
    expect(await shown.ended).toBe(0);
    expect(shown.stdout).toMatch(/http:\/\/one:8080 +ready +\S.* +small +1\+1 +2\/4 +7 +75% \(80%\)/);
    expect(shown.stderr).toContain("Waiting: 3 interactive, 5 batch.");
    expect(shown.stderr).toContain("gateway 2 of 2");
    expect(await json.ended).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({ queued_batch: 5, instances: [{ url: "http://one:8080", state: "ready", slots: 4 }] });
  });

  it("drains and resumes one, and says which gateways know of it", async () => {
    const edgeUrl = await edge();
    const [drain, resume] = [
      runHlvm(["model", "pool", "drain", "http://one:8080"], { edgeUrl }),
      runHlvm(["model", "pool", "resume", "http://one:8080", "--json"], { edgeUrl }),
    ];
    expect(await drain.ended).toBe(0);
    expect(drain.stderr).toContain("is at 1 still");
    expect(drain.stderr).toContain("Only gateway 2 of 2 was told");
    expect(await resume.ended).toBe(0);
    expect(JSON.parse(resume.stdout)).toMatchObject({ url: "http://one:8080", state: "ready" });
  });
});

describe("hlvm model serve", () => {
  const program = (help: string): { PATH: string; model: string } => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a.gguf"), "GGUF");
    // Says what it was started with, and goes on until it is ended.
    const script = `#!/bin/sh\nif [ "$1" = --help ]; then echo "${help}"; exit 0; fi\ntrap 'echo ended; exit 0' TERM\necho "started $*"\nwhile :; do sleep 0.05; done\n`;
    writeFileSync(join(folder, "llama-server"), script);
    chmodSync(join(folder, "llama-server"), 0o755);
    return { PATH: `${folder}:${process.env.PATH}`, model: join(folder, "a.gguf") };
  };

  it("runs llama-server with its port and what keeps conversations apart, and ends it when it is interrupted", async () => {
    const { PATH, model } = program("--cache-ram --no-cache-idle-slots --slot-prompt-similarity");
    const serve = runHlvm(["model", "serve", model, "--slots", "3", "--context", "4096"], { environment: { PATH } });
    await serve.shows("started");
    for (const flags of [
      "--port 11439",
      "--host 127.0.0.1",
      "--cache-ram 0",
      "--no-cache-idle-slots",
      "--slot-prompt-similarity 0.5",
      "--parallel 3",
      "--ctx-size 12288",
    ])
      expect(serve.stdout).toContain(flags);
    serve.child.kill("SIGINT");
    expect(await serve.ended).toBe(0);
    expect(serve.stdout).toContain("ended");
  });

  it("starts none that it could not tell to keep conversations apart, and says how to get one where there is none", async () => {
    const old = program("--port --parallel");
    const refused = runHlvm(["model", "serve", old.model], { environment: { PATH: old.PATH } });
    expect(await refused.ended).not.toBe(0);
    expect(refused.stderr).toContain("--cache-ram");
    expect(refused.stdout).not.toContain("started");
    const none = runHlvm(["model", "serve", old.model], { environment: { PATH: "/nowhere" } });
    expect(await none.ended).not.toBe(0);
    expect(none.stderr).toContain("apt-get install llama.cpp-tools");
    const missing = runHlvm(["model", "serve", "/no/such.gguf"], { environment: { PATH: old.PATH } });
    expect(await missing.ended).not.toBe(0);
    expect(missing.stderr).toContain("/no/such.gguf cannot be read");
  });
});
