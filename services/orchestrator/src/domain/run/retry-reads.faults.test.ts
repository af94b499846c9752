import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { expect, it, onTestFinished } from "vitest";
import { AttachmentSchema, StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "../../testing/event-values.ts";
import { pauseModel } from "../../testing/pause-model.ts";
import { PIXEL } from "../../testing/pixel.ts";
import { isCase } from "../../testing/replaceable-process.ts";
import { startTestOrchestrator } from "../../testing/test-orchestrator.ts";
import { usualBehaviour } from "../../testing/usual-behaviour.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const WAITING = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

it("a run goes on where the database's connection breaks in the moment in which it is taken over", async () => {
  const { database, url, drop } = await createTestDatabase(MIGRATIONS);
  onTestFinished(drop);
  const test = await startTestOrchestrator(url);
  onTestFinished(() => test.stop());
  test.fake.behaviour.model = { ...usualBehaviour.model, takesImages: true };
  pauseModel(test.fake.behaviour);
  const asked = await test.ask("What is this?", { attachments: [create(AttachmentSchema, { path: "shot.png", data: PIXEL })] });
  await test.watch(asked.sessionId, 1n, isCase("messageDelta"));
  await test.orchestrator.stop("SIGKILL");
  await database.query("UPDATE replica SET lease_until = now()");
  test.answers(["A pixel."]);
  await database.transaction(async (queries) => {
    await queries.query("LOCK TABLE attachment IN ACCESS EXCLUSIVE MODE");
    test.orchestrator = await test.startProcess();
    await expect.poll(() => database.query(`SELECT pg_terminate_backend(pid) ${WAITING}`)).toHaveLength(1);
  });
  const events = await test.watch(asked.sessionId);
  expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "A pixel." }]);
});
