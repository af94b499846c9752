import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { stranger } from "../testing/stranger.ts";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();
const colleague = { ...testPrincipal, id: "user:colleague" };

describe("Execute", () => {
  it("refuses a grant for other bytes, another session, call, run, tool or person, and one used before", async () => {
    const { sessionId, workspace } = await service.open();
    const call = {
      sessionId,
      callId: "granted",
      runId: randomUUID(),
      tool: "write_file",
      given: { path: "f", content: "x" },
      principal: testPrincipal,
    };
    const others = [
      { ...call, given: { path: "f", content: "y" } },
      { ...call, sessionId: randomUUID() },
      { ...call, callId: "another" },
      { ...call, runId: randomUUID() },
      { ...call, tool: "read_file" },
      { ...call, principal: colleague },
      { ...call, principal: stranger },
    ];
    for (const other of others)
      expect(await refusal(service.execute({ ...call, grant: service.sign(other) }))).toBe("PermissionDenied grant_refused");
    expect(await refusal(service.execute({ ...call, grant: "nonsense" }))).toBe("PermissionDenied grant_refused");
    expect(existsSync(join(workspace, "f"))).toBe(false);
    expect((await service.receipt(sessionId, "granted")).state).toBe(State.NEVER_STARTED);
    const grant = service.sign(call);
    expect((await service.execute({ ...call, grant })).success).toBe(true);
    expect(await refusal(service.execute({ ...call, callId: "second", grant }))).toBe("PermissionDenied grant_refused");
  });

  it("tells nobody what a call came to before the grant was checked", async () => {
    const { sessionId } = await service.open();
    const call = { sessionId, callId: "told", runId: randomUUID(), tool: "shell_exec", given: { command: "echo secret" } };
    const grant = service.sign({ ...call, principal: testPrincipal });
    expect((await service.execute({ ...call, grant })).content).toBe("secret\n");
    expect(await refusal(service.execute({ ...call, grant: "nonsense" }))).toBe("PermissionDenied grant_refused");
    expect((await service.execute({ ...call, grant })).content).toBe("secret\n");
  });

  it("runs a call once, however many grants policy gives it", async () => {
    const { sessionId, workspace } = await service.open();
    const call = {
      sessionId,
      callId: "renewed",
      runId: randomUUID(),
      tool: "shell_exec",
      given: { command: "echo x >> count; cat count" },
    };
    const run = () => service.execute({ ...call, grant: service.sign({ ...call, principal: testPrincipal }) });
    await Promise.allSettled([run(), run(), run()]);
    expect((await run()).content).toBe("x\n");
    expect(readFileSync(join(workspace, "count"), "utf8")).toBe("x\n");
  });

  it("lets nobody of the same organization open, use, ask about or close another person's session", async () => {
    const { sessionId, workspace } = await service.open();
    await service.execute({ sessionId, callId: "own", tool: "shell_exec", given: { command: "true" } });
    const headers = await service.headersOf(colleague);
    const refused = "NotFound session_not_found";
    expect(await refusal(service.client.openWorkspace({ sessionId, path: workspace }, headers))).toBe(refused);
    expect(await refusal(service.client.closeWorkspace({ sessionId }, headers))).toBe(refused);
    expect(await refusal(service.receipt(sessionId, "own", colleague))).toBe(refused);
    expect(await refusal(service.client.listProcesses({ sessionId }, headers))).toBe(refused);
    expect(await refusal(service.execute({ sessionId, tool: "git_status", given: {}, principal: colleague }))).toBe(refused);
    await service.restart();
    expect(await refusal(service.client.openWorkspace({ sessionId, path: workspace }, headers))).toBe(refused);
    expect(await refusal(service.receipt(sessionId, "own", colleague))).toBe(refused);
  });

  it("takes arguments in any order of keys: what is granted and run is their canonical form", async () => {
    const { sessionId } = await service.open();
    const call = { sessionId, callId: "order", runId: randomUUID(), tool: "write_file", principal: testPrincipal };
    const grant = service.sign({ ...call, given: { content: "x", path: "f" } });
    expect((await service.execute({ ...call, given: { path: "f", content: "x" }, grant })).success).toBe(true);
  });

  it("refuses wrong arguments, unknown tools, tools of others and other definitions, and says what is right", async () => {
    const { sessionId } = await service.open();
    expect(await refusal(service.execute({ sessionId, tool: "read_file", given: { file: "x" } }))).toBe(
      "InvalidArgument invalid_arguments",
    );
    const hash = "0".repeat(64);
    expect(await refusal(service.execute({ sessionId, tool: "nosuch", given: {}, grant: "x", definitionHash: hash }))).toBe(
      "NotFound tool_unknown",
    );
    expect(await refusal(service.execute({ sessionId, tool: "memory_write", given: { text: "x" } }))).toBe("NotFound tool_unknown");
    expect(await refusal(service.execute({ sessionId, tool: "git_status", given: {}, definitionHash: hash }))).toBe(
      "FailedPrecondition definition_changed",
    );
  });

  it("refuses calls without a token, for a session that is not open, and for another organization's", async () => {
    const { sessionId } = await service.open();
    await expect(service.client.getReceipt({ sessionId, callId: "x" })).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(await refusal(service.execute({ sessionId: randomUUID(), tool: "git_status", given: {} }))).toBe("NotFound session_not_found");
    expect(await refusal(service.execute({ sessionId, tool: "git_status", given: {}, principal: stranger }))).toBe(
      "NotFound session_not_found",
    );
    expect(await refusal(service.receipt(sessionId, "x", stranger))).toBe("NotFound session_not_found");
  });
});
