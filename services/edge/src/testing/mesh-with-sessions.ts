import type { ServiceImpl } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { meshWith } from "./mesh-with.ts";
import type { TestMesh } from "./test-mesh.ts";

/** A mesh whose orchestrator does this, until the test is over. */
export function meshWithSessions(sessions: Partial<ServiceImpl<typeof SessionService>>): Promise<TestMesh> {
  return meshWith((router) => router.service(SessionService, sessions));
}
