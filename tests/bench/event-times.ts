import { readFileSync } from "node:fs";
import { createClient } from "@connectrpc/connect";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createEdgeTransport } from "@hlvm/service-cli/src/mesh/create-edge-transport.ts";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { TestMesh } from "../e2e/test-mesh.ts";

const PAGE = 500;

/** When a session's events of one kind were recorded, in milliseconds since 1970, by what their JSON is known by. */
export async function eventTimes(
  mesh: TestMesh,
  sessionId: string,
  kind: Event["payload"]["case"],
  keyOf: (json: string) => string | undefined,
): Promise<Map<string, number>> {
  const token = readFileSync(mesh.state.tokenFile, "utf8").trim();
  const sessions = createClient(SessionService, createEdgeTransport(mesh.state.edgeUrl, token));
  const times = new Map<string, number>();
  let before = 0n;
  for (;;) {
    const { events, hasMore } = await sessions.readEvents({ sessionId, before, limit: PAGE });
    for (const { payload, at } of events) {
      if (payload.case !== kind || at === undefined) continue;
      const key = keyOf(JSON.stringify(payload.value, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)));
      if (key !== undefined) times.set(key, timestampMs(at));
    }
    before = events[0]?.sequence ?? 0n;
    if (!hasMore || before === 0n) return times;
  }
}
