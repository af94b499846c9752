import { toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { expect, it } from "vitest";
import { MeshService, type CarryRequestSchema, type CarryResponse } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";
import { ListSessionsRequestSchema } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { serveSessions } from "./testing/serve-sessions.ts";

it("carries the calls of anybody who speaks Connect", async () => {
  const server = await serveSessions({ listSessions: ({ limit }) => ({ sessions: [{ title: `of ${limit}` }] }) });
  try {
    const transport = createConnectTransport({ baseUrl: server.url, httpVersion: "2", useBinaryFormat: true });
    const path = "/hlvm.session.v1.SessionService/ListSessions";
    const carried = async function* (): AsyncGenerator<MessageInitShape<typeof CarryRequestSchema>> {
      for (const limit of [1, 2]) {
        const request = toBinary(ListSessionsRequestSchema, { $typeName: "hlvm.session.v1.ListSessionsRequest", limit, pageToken: "" });
        yield { call: limit, kind: { case: "begin", value: { path, headers: server.headers, request } } };
      }
    };
    const heard: CarryResponse[] = [];
    for await (const response of createClient(MeshService, transport).carry(carried())) heard.push(response);
    expect(new Set(heard.map(({ call }) => call))).toEqual(new Set([1, 2]));
    for (const { call, answers, end } of heard) {
      expect(Buffer.from(answers[0]!).toString()).toContain(`of ${call}`);
      expect(end?.errorJson).toHaveLength(0);
    }
  } finally {
    await server.close();
  }
});
