import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ProviderKeySchema, ProviderKeyService } from "@hlvm/proto/hlvm/model/v1/provider_key_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { testLog } from "@hlvm/testing/test-log";
import { describe, expect, it, onTestFinished } from "vitest";
import { runHlvm } from "../testing/run-hlvm.ts";

const ID = "0b8f8f0e-7c49-4f0c-9d7f-0f8d2f0f3a10";
const SECRET = "sk-a-key-that-nobody-sees";
const key = create(ProviderKeySchema, {
  keyId: ID,
  provider: "anthropic",
  team: "platform",
  name: "default",
  ending: "6789",
  changedBy: "user:ada",
  createdAt: timestampFromMs(Date.UTC(2026, 10, 23)),
});

async function edge() {
  const given: { secret: string; provider?: string; team?: string; keyId?: string }[] = [];
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: (router) => {
      router.service(ProviderKeyService, {
        listProviderKeys: () => ({ keys: [key], providers: ["anthropic", "openai"] }),
        addProviderKey: ({ provider, team, secret }) => (given.push({ provider, team, secret }), { key }),
        rotateProviderKey: ({ keyId, secret }) => (given.push({ keyId, secret }), { key }),
        removeProviderKey: () => ({}),
      });
    },
    services: [ProviderKeyService.typeName],
    authenticate: (next) => next,
  });
  onTestFinished(() => server.close());
  return { edgeUrl: `http://127.0.0.1:${server.port}`, given };
}

describe("hlvm model key", () => {
  it("lists keys by their last characters, and takes and changes them from standard input", async () => {
    const { edgeUrl, given } = await edge();
    const [list, add, rotate, remove] = [
      runHlvm(["model", "key"], { edgeUrl }),
      runHlvm(["model", "key", "add", "anthropic", "--team", "platform"], { edgeUrl, input: `${SECRET}\n` }),
      runHlvm(["model", "key", "rotate", ID, "--json"], { edgeUrl, input: `${SECRET}2\n` }),
      runHlvm(["model", "key", "remove", ID, "--json"], { edgeUrl }),
    ];
    expect(await Promise.all([list, add, rotate, remove].map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    expect(list.stdout).toMatch(new RegExp(`${ID} +anthropic +platform +default +…6789 +user:ada`));
    expect(add.stdout).toBe(`${ID}\n`);
    expect(JSON.parse(rotate.stdout)).toMatchObject({ key_id: ID, ending: "6789" });
    expect(JSON.parse(remove.stdout)).toEqual({ key_id: ID, removed: true });
    expect(given).toEqual(
      expect.arrayContaining([
        { provider: "anthropic", team: "platform", secret: SECRET },
        { keyId: ID, secret: `${SECRET}2` },
      ]),
    );
    expect(add.stderr + add.stdout + rotate.stderr).not.toContain(SECRET);
  });

  it("asks for it on a terminal, and shows nothing of what is typed", async () => {
    const { edgeUrl, given } = await edge();
    const add = runHlvm(["model", "key", "add", "anthropic"], { edgeUrl, terminal: true });
    await add.shows("it is not shown");
    add.child.stdin!.write(`x\u007f\u001b[200~${SECRET}\u001b[201~\r`);
    expect(await add.ended).toBe(0);
    expect(given[0]?.secret).toBe(SECRET);
    expect(add.stdout).not.toContain(SECRET);
  });

  it("refuses to add nothing", async () => {
    const { edgeUrl, given } = await edge();
    const add = runHlvm(["model", "key", "add", "anthropic"], { edgeUrl, input: "\n" });
    expect(await add.ended).toBe(2);
    expect(add.stderr).toContain("There is no key for anthropic.");
    expect(given).toEqual([]);
  });
});
