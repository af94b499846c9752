import { setTimeout as sleep } from "node:timers/promises";
import { readMeshState, type ServiceState } from "@hlvm/mesh/mesh-state";
import { withMeshDatabase } from "../e2e/mesh-database.ts";
import type { TestMesh } from "../e2e/test-mesh.ts";

const DEADLINE_MILLISECONDS = 60_000;
const POLL_MILLISECONDS = 100;

/** Has the mesh's PostgreSQL keep when each transaction was committed, which it does only after a new start. */
export async function keepCommitTimes(mesh: TestMesh): Promise<void> {
  await withMeshDatabase(mesh, (database) => database.query("ALTER SYSTEM SET track_commit_timestamp = on"));
  const before = postgresOf(mesh).pid!;
  process.kill(before, "SIGINT");
  for (const deadline = Date.now() + DEADLINE_MILLISECONDS; ; await sleep(POLL_MILLISECONDS)) {
    const services = readMeshState(mesh.directory)?.services ?? [];
    if (postgresOf(mesh).pid !== before && services.every(({ state }) => state === "up")) return;
    if (Date.now() > deadline) throw new Error("PostgreSQL did not come up again");
  }
}

/** When PostgreSQL committed each event, in milliseconds since 1970, by session and sequence: its own clock, the machine's. */
export async function readCommitTimes(mesh: TestMesh): Promise<ReadonlyMap<string, number>> {
  const rows = await withMeshDatabase(mesh, (database) =>
    database.query<{ session_id: string; seq: string; committed: number }>(
      "SELECT session_id, seq, extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 * 1000 AS committed FROM event",
    ),
  );
  return new Map(rows.map(({ session_id, seq, committed }) => [eventKey(session_id, BigInt(seq)), committed]));
}

export function eventKey(sessionId: string, sequence: bigint): string {
  return `${sessionId} ${sequence}`;
}

function postgresOf(mesh: TestMesh): ServiceState {
  return readMeshState(mesh.directory)!.services.find(({ name }) => name === "PostgreSQL")!;
}
