import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { ModelWorkService } from "@hlvm/proto/hlvm/memory/v1/model_work_pb";
import { MemoryWorkService, type AllowMemoryWorkRequest, type LabelSessionRequest } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { meshWith } from "../testing/mesh-with.ts";
import { AUTHORIZATION, TEAMS } from "../testing/test-mesh.ts";

const SENT = { sessionId: "7b1f6f0e-0d58-4d4e-9d0a-000000000001", runId: "7b1f6f0e-0d58-4d4e-9d0a-000000000002", delegation: "of my own" };
const headers = AUTHORIZATION;

it("signs who lets a model look at their memory, whatever a client sends in its place", async () => {
  const asked: (AllowMemoryWorkRequest | LabelSessionRequest)[] = [];
  const mesh = await meshWith((router) =>
    router.service(MemoryWorkService, {
      allowMemoryWork: (request) => (asked.push(request), {}),
      labelSession: (request) => (asked.push(request), {}),
    }),
  );
  const client = createClient(MemoryWorkService, createMeshTransport(mesh.url, []));
  await client.allowMemoryWork({ ...SENT, onlyRenew: true }, { headers });
  await client.labelSession({ ...SENT, model: "a/b", turnsJson: "[]" }, { headers });
  expect(asked).toMatchObject([{ onlyRenew: true }, { model: "a/b", turnsJson: "[]" }]);
  for (const { sessionId, runId, delegation } of asked) {
    expect([sessionId === SENT.sessionId, runId === SENT.runId]).toEqual([false, false]);
    expect(mesh.delegations.verify(delegation)).toMatchObject({ principal: { id: "user:ada", teams: TEAMS }, sessionId, runId });
  }
});

it("keeps from clients what memory gives the orchestrator to ask about", async () => {
  const mesh = await meshWith((router) =>
    router.service(ModelWorkService, { claimModelWork: () => ({ claimId: "given" }), countModelWork: () => ({ facts: 3 }) }),
  );
  const client = createClient(ModelWorkService, createMeshTransport(mesh.url, []));
  expect(await client.countModelWork({}, { headers })).toMatchObject({ facts: 3 });
  const refused = await client
    .claimModelWork({ maxCharacters: 1_000, seconds: 60 }, { headers })
    .catch((cause: unknown) => ConnectError.from(cause));
  expect(refused).toMatchObject({ code: Code.Unimplemented });
});
