import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@connectrpc/connect";
import { createSigningKey, signingKeyOf } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import type { StartMessage } from "@hlvm/service/run-service";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const directory = mkdtempSync(join(tmpdir(), "hlvm-sandbox-main-"));
const keys = join(directory, "keys.json");
let minter: TokenMinter;
let placed: TestDatabase;

beforeAll(async () => {
  placed = await createTestDatabase(join(import.meta.dirname, "../migrations"));
  const key = await createSigningKey("edge");
  const signingKey = signingKeyOf(key.privateJwk);
  minter = new TokenMinter(() => signingKey);
  writeFileSync(keys, JSON.stringify({ keys: [key.publicJwk] }));
});
afterAll(async () => {
  await placed.drop();
  rmSync(directory, { recursive: true });
});

/** Starts the service as its own process, and gives what it says first; it ends when `use` has. */
async function start(environment: Record<string, string>, use = async (_port: number): Promise<void> => {}): Promise<StartMessage> {
  const child = fork(fileURLToPath(new URL("main.ts", import.meta.url)), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HLVM_TOKEN_PUBLIC_KEYS: keys,
      HLVM_GRANT_PUBLIC_KEYS: keys,
      HLVM_DATABASE_URL: placed.url,
      HLVM_SANDBOX_STATE_DIRECTORY: join(directory, "state"),
      ...environment,
    },
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const message = await new Promise<StartMessage>((resolve) => child.once("message", (said) => resolve(said as StartMessage)));
  if (message.kind === "ready") await use(message.port);
  child.kill("SIGTERM");
  await exited;
  return message;
}

/** A stand-in for bwrap on a machine where it does not work. */
function standIn(name: string, version: string, complaint: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo "bubblewrap ${version}" && exit\necho "${complaint}" >&2\nexit 1\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("the service at start", () => {
  it("comes up where it can isolate", async () => {
    expect(await start({})).toMatchObject({ kind: "ready", service: "sandbox" });
  });

  it("lets nothing in HLVM's own folder become a workspace, nor what holds that folder", async () => {
    const own = join(directory, "own");
    const sockets = join(directory, "beside", "sockets");
    const inside = ["data/postgres", "run", "logs"].map((name) => join(own, name));
    for (const folder of [...inside, sockets]) mkdirSync(folder, { recursive: true });
    const refusals: unknown[] = [];
    await start({ HLVM_DIR: own, HLVM_SOCKET_DIR: sockets }, async (port) => {
      const client = createClient(SandboxService, createMeshTransport(`http://127.0.0.1:${port}`));
      const headers = { authorization: `Bearer ${minter.mint(testPrincipal, "sandbox")}` };
      for (const path of [own, ...inside, directory, sockets, join(directory, "beside")])
        refusals.push(await client.openWorkspace({ sessionId: randomUUID(), path }, { headers }).catch(fromConnectError));
    });
    expect(refusals).toHaveLength(7);
    for (const refusal of refusals) expect(refusal).toMatchObject({ reason: "workspace_not_allowed" });
  });

  it.each([
    ["without bubblewrap", () => ({ HLVM_BWRAP: "/nonexistent/bwrap" }), "is not installed", "apt-get install bubblewrap"],
    ["with an old bubblewrap", () => ({ HLVM_BWRAP: standIn("old", "0.4.1", "") }), "is bubblewrap 0.4.1", "newer bubblewrap"],
    [
      "where namespaces are forbidden",
      () => ({ HLVM_BWRAP: standIn("forbidden", "0.8.0", "bwrap: No permissions to create new namespace") }),
      "bwrap says: bwrap: No permissions to create new namespace",
      "namespaces",
    ],
    [
      "without its settings",
      () => ({ HLVM_SANDBOX_STATE_DIRECTORY: "" }),
      "HLVM_SANDBOX_STATE_DIRECTORY is not set",
      "environment variables",
    ],
    [
      "with a wrong setting",
      () => ({ HLVM_SANDBOX_PROCESSES: "many" }),
      "HLVM_SANDBOX_PROCESSES must be a whole number",
      "environment variables",
    ],
  ])("refuses %s and says what to do", async (_where, environment, message, advice) => {
    expect(await start(environment())).toMatchObject({
      kind: "failed",
      message: expect.stringContaining(message),
      advice: expect.stringContaining(advice),
    });
  });
});
