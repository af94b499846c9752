import { describe, expect, it } from "vitest";
import { pauseModel } from "../../testing/pause-model.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator({ HLVM_SERVICE_WAIT_SECONDS: "1" });

describe("a run that has lost its lease", () => {
  it("closes its workspace where it is stateless", async () => {
    const { fake } = test;
    const release = pauseModel(fake.behaviour);
    const { sessionId, runId, sequence } = await test.ask("q", { stateless: true });
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "messageDelta");
    await test.database.query("UPDATE run SET lease_owner = gen_random_uuid() WHERE run_id = $1", [runId]);
    release();
    await test.watch(sessionId, sequence);
    await expect.poll(() => [...fake.bound]).toEqual([]);
    expect(fake.seen.closed).toEqual([sessionId]);
  });
});
