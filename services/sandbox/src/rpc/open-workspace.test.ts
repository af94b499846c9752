import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { stranger } from "../testing/stranger.ts";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();

describe("OpenWorkspace", () => {
  const open = async (path: string, sessionId: string = randomUUID(), principal = testPrincipal) =>
    service.client.openWorkspace({ sessionId, path }, await service.headersOf(principal));

  it("resolves links and tells the branch of a repository", async () => {
    const { workspace } = await service.open();
    execFileSync("git", ["init", "--quiet", "--initial-branch=topic/a", workspace]);
    execFileSync("ln", ["-s", workspace, join(workspace, "self")]);
    expect(await open(join(workspace, "self"))).toMatchObject({ path: workspace, gitRepository: true, gitBranch: "topic/a" });
    expect(await open(service.newWorkspace())).toMatchObject({ gitRepository: false, gitBranch: "" });
  });

  it("has no effect the second time, and keeps a session on its folder", async () => {
    const { sessionId, workspace } = await service.open();
    expect((await open(workspace, sessionId)).path).toBe(workspace);
    expect(await refusal(open(service.newWorkspace(), sessionId))).toBe("FailedPrecondition workspace_already_bound");
    expect(await refusal(open(workspace, sessionId, stranger))).toBe("NotFound session_not_found");
  });

  it("opens the folder that is there by now, where the last one was made anew, and goes on with its receipts", async () => {
    const { sessionId, workspace } = await service.open();
    await service.execute({ sessionId, callId: "old", tool: "shell_exec", given: { command: "touch old" } });
    renameSync(workspace, `${workspace}-old`);
    mkdirSync(workspace);
    await open(workspace, sessionId);
    const { content } = await service.execute({ sessionId, tool: "shell_exec", given: { command: "touch new; ls" } });
    expect(content).toBe("new\n");
    expect((await service.receipt(sessionId, "old")).state).toBe(State.DONE);
    rmSync(`${workspace}-old`, { recursive: true });
  });

  it("takes a session up whose receipts could not be begun, since the disk was full", async () => {
    const { sessionId, workspace } = await service.open();
    await service.restart();
    writeFileSync(join(service.stateDirectory, "receipts", `${sessionId}.ndjson`), '\n{"kind":"opened","organiz');
    await open(workspace, sessionId);
    expect((await service.execute({ sessionId, tool: "shell_exec", given: { command: "echo ok" } })).content).toBe("ok\n");
    await service.restart();
    await open(workspace, sessionId);
  });

  it("says what is wrong with a folder", async () => {
    const file = join(service.newWorkspace(), "file");
    writeFileSync(file, "");
    expect(await refusal(open(join(tmpdir(), "hlvm-does-not-exist")))).toBe("NotFound workspace_not_found");
    expect(await refusal(open(file))).toBe("FailedPrecondition workspace_not_a_folder");
  });

  it.each(["/proc", "/proc/self", "/etc", "/usr", "/usr/share", "/root", "/run", "/var/lib", "/home", "/tmp", "/"])(
    "takes no folder of the machine's own: %s",
    async (path) => {
      expect(await refusal(open(path))).toBe("FailedPrecondition workspace_not_allowed");
    },
  );

  it("shows no sandbox the service's own data", async () => {
    for (const path of [service.stateDirectory, join(service.stateDirectory, "receipts"), tmpdir(), "/"])
      expect(await refusal(open(path))).toBe("FailedPrecondition workspace_not_allowed");
  });

  it("lets the owner of a workspace own what is made in it, also where root runs the service", async () => {
    const workspace = service.newWorkspace();
    if (process.getuid!() === 0) execFileSync("chown", ["12345:12345", workspace]);
    const sessionId = randomUUID();
    await open(workspace, sessionId);
    expect(await service.execute({ sessionId, tool: "write_file", given: { path: "f", content: "x" } })).toMatchObject({ success: true });
    expect(statSync(join(workspace, "f")).uid).toBe(statSync(workspace).uid);
  });
});
