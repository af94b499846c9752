import { existsSync, rmSync, statfsSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HlvmError } from "@hlvm/errors/hlvm-error";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { mountSmallDisk, ownerOf } from "@hlvm/testing/small-disk";
import { describe, expect, it } from "vitest";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();

describe("a disk of receipts that is full", () => {
  it("lets no tool run and says why, and is written to again when there is room", async (context) => {
    const disk = mountSmallDisk(1, ownerOf(process.pid));
    if (disk === undefined) return context.skip("a small disk can only be mounted by root");
    const receipts = join(service.stateDirectory, "receipts");
    rmSync(receipts, { recursive: true });
    symlinkSync(disk.path, receipts);
    try {
      const [one, other] = [await service.open(), await service.open()];
      const touch = (name: string, { sessionId } = one) =>
        service.execute({ sessionId, callId: name, tool: "shell_exec", given: { command: `touch ${name}; echo ${name}` } });
      expect((await touch("before")).content).toBe("before\n");

      const filler = join(disk.path, "filler");
      const { bavail, bsize } = statfsSync(disk.path);
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
      // What is left of the page that the receipts have begun.
      const failure = (name: string): Promise<HlvmError | undefined> => touch(name).then(() => undefined, fromConnectError);
      let call = 0;
      let error = await failure("full-0");
      while (error === undefined && call < 40) error = await failure(`full-${++call}`);
      expect(error).toMatchObject({ code: "unavailable", reason: "receipt_not_written", advice: expect.stringContaining("Free space") });
      expect(existsSync(join(one.workspace, `full-${call}`))).toBe(false);

      const last = call === 0 ? "before" : `full-${call - 1}`;
      expect((await service.receipt(one.sessionId, last)).result?.content).toBe(`${last}\n`);

      truncateSync(filler);
      expect((await touch("after")).content).toBe("after\n");
      expect((await service.receipt(one.sessionId, last)).result?.content).toBe(`${last}\n`);
      expect((await touch("after", other)).content).toBe("after\n");
    } finally {
      disk.unmount();
    }
  });
});
