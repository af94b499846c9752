import { mountSmallDisk, ownerOf } from "@hlvm/testing/small-disk";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { create } from "@bufbuild/protobuf";
import { AttachmentSchema, StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { describe, expect, it } from "vitest";
import { pauseModel } from "../testing/pause-model.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const DISK_MEBIBYTES = 4;
const test = useTestOrchestrator();

describe("a log whose disk is full", () => {
  it("says so to who asks, harms no session, and takes the run under way to its end when there is room", async (context) => {
    const [server] = await test.database.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const disk = mountSmallDisk(DISK_MEBIBYTES, ownerOf(server!.pid));
    if (disk === undefined) return context.skip("a small disk can only be mounted by root");
    try {
      await test.database.query(`CREATE TABLESPACE small_log LOCATION '${disk.path}'`);
      await test.database.query("ALTER TABLE event SET TABLESPACE small_log");
      await test.database.query("ALTER INDEX event_pkey SET TABLESPACE small_log");
      test.answers(["before"]);
      const before = await test.run("one");
      const release = pauseModel(test.fake.behaviour);
      const underWay = await test.ask("two");
      await test.watch(underWay.sessionId, underWay.sequence, ({ payload }) => payload.case === "messageDelta");

      await test.database.query("CREATE TABLE filler (text text) TABLESPACE small_log");
      await test.database.query("ALTER TABLE filler ALTER COLUMN text SET STORAGE PLAIN");
      const fill = (length: number) => test.database.query("INSERT INTO filler VALUES (repeat('x', $1))", [length]);
      // Each row takes a page, until no table gets another one.
      await expect(
        (async () => {
          for (;;) await fill(8_000);
        })(),
      ).rejects.toMatchObject({ reason: "database_disk_full" });

      const text = Array.from({ length: 20_000 }, () => Math.random()).join();
      const refused = await test.ask("three", { attachments: [create(AttachmentSchema, { path: "long", text })] }).catch(fromConnectError);
      expect(refused).toMatchObject({ reason: "database_disk_full", advice: expect.stringMatching(/./) });
      const { sessions } = await test.orchestrator.client.listSessions({}, await test.orchestrator.as(ada));
      expect(sessions.map(({ sessionId }) => sessionId).toSorted()).toEqual([before.sessionId, underWay.sessionId].toSorted());
      expect(await test.watch(before.sessionId)).toEqual(before.events);

      release();
      await test.database.query("DROP TABLE filler");
      const events = await test.watch(underWay.sessionId, underWay.sequence);
      expect(events.at(-1)!.payload.value).toMatchObject({ reason: StopReason.COMPLETED });
      test.answers(["after"]);
      expect((await test.run("and now?", { sessionId: before.sessionId })).stopped).toMatchObject({ text: "after" });
    } finally {
      await test.database.query("DROP TABLE IF EXISTS filler");
      await test.database.query("ALTER TABLE event SET TABLESPACE pg_default");
      await test.database.query("ALTER INDEX event_pkey SET TABLESPACE pg_default");
      await test.database.query("DROP TABLESPACE IF EXISTS small_log");
      disk.unmount();
    }
  });
});
