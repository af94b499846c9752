import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { stranger } from "../testing/stranger.ts";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();

describe("GetReceipt", () => {
  it("tells the state of a call, also after the service has started again", async () => {
    const { sessionId, workspace } = await service.open();
    await service.execute({ sessionId, callId: "finished", tool: "shell_exec", given: { command: "echo done" } });
    const begun = Promise.withResolvers<string>();
    const running = service.execute({
      sessionId,
      callId: "cut",
      tool: "shell_exec",
      given: { command: "echo begun; sleep 60" },
      onOutput: begun.resolve,
    });
    running.catch(() => undefined);
    await begun.promise;
    expect((await service.receipt(sessionId, "finished")).result).toMatchObject({ success: true, content: "done\n" });
    expect((await service.receipt(sessionId, "cut")).state).toBe(State.RUNNING);
    expect((await service.receipt(sessionId, "never")).state).toBe(State.NEVER_STARTED);

    // What the file would be had the process died here, with its last line cut short.
    const journal = join(service.stateDirectory, "receipts", `${sessionId}.ndjson`);
    const asItStood = readFileSync(journal, "utf8");
    await service.restart();
    writeFileSync(journal, `${asItStood}\n{"kind":"ended","callId":"cu`);

    expect((await service.receipt(sessionId, "finished")).result).toMatchObject({ content: "done\n" });
    expect((await service.receipt(sessionId, "cut")).state).toBe(State.UNKNOWN);
    expect((await service.receipt(sessionId, "never")).state).toBe(State.NEVER_STARTED);
    expect(await refusal(service.receipt(sessionId, "finished", stranger))).toBe("NotFound session_not_found");
    expect((await service.receipt(randomUUID(), "any")).state).toBe(State.UNKNOWN);

    await service.client.openWorkspace({ sessionId, path: workspace }, await service.headersOf(testPrincipal));
    expect((await service.execute({ sessionId, callId: "finished", tool: "shell_exec", given: { command: "echo done" } })).content).toBe(
      "done\n",
    );
    expect(
      await refusal(service.execute({ sessionId, callId: "cut", tool: "shell_exec", given: { command: "echo begun; sleep 60" } })),
    ).toBe("FailedPrecondition call_in_doubt");
    await service.execute({ sessionId, callId: "next", tool: "shell_exec", given: { command: "echo next" } });
    expect((await service.receipt(sessionId, "next")).state).toBe(State.DONE);
  });
});
