import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { AuditService, type RecordAdministrationRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { PoolService } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { meshWith } from "../testing/mesh-with.ts";
import { AUTHORIZATION } from "../testing/test-mesh.ts";

const options = { headers: AUTHORIZATION };

/** An edge before a pool and an audit log, and what those are told in which order. */
async function meshWithPool(record: (request: RecordAdministrationRequest) => object) {
  const told: string[] = [];
  const mesh = await meshWith((router) => {
    router.service(AuditService, {
      recordAdministration: (request, context) => {
        told.push(`${callContext(context).principal.id} ${request.method} ${request.requestJson}`);
        return record(request);
      },
    });
    router.service(PoolService, {
      drainInstance: ({ url }) => {
        told.push(`drained ${url}`);
        return {};
      },
    });
  });
  return { told, pool: createClient(PoolService, createMeshTransport(mesh.url)) };
}

describe("a method that is put on record", () => {
  it("is recorded in its person's name before it is handed on", async () => {
    const { told, pool } = await meshWithPool(() => ({ id: 1n }));
    await pool.drainInstance({ url: "http://10.0.0.1:8080" }, options);
    expect(told).toEqual([
      'user:ada hlvm.model.v1.PoolService/DrainInstance {"url":"http://10.0.0.1:8080"}',
      "drained http://10.0.0.1:8080",
    ]);
  });

  it("is not done where that fails", async () => {
    const { told, pool } = await meshWithPool(() => {
      throw new ConnectError("no room", Code.ResourceExhausted);
    });
    await expect(pool.drainInstance({ url: "http://10.0.0.1:8080" }, options)).rejects.toMatchObject({ rawMessage: "no room" });
    expect(told).toHaveLength(1);
  });
});
