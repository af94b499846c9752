import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { fromConnectError } from "@hlvm/rpc/from-connect-error";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../testing/start-test-service.ts";

let service: TestService;
const stranger = { ...testPrincipal, organization: "other" };
const colleague = { ...testPrincipal, id: "user:colleague" };

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** What the caller is told: `code reason`. */
async function refusal(call: Promise<unknown>): Promise<string> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ConnectError)) throw new Error("nothing was refused", { cause: thrown });
  return `${Code[thrown.code]} ${fromConnectError(thrown).reason}`;
}

async function receipt(sessionId: string, callId: string, principal = testPrincipal) {
  return service.client.getReceipt({ sessionId, callId }, await service.headersOf(principal));
}

describe("Execute", () => {
  it("runs a granted call, streams its output and ends with the result", async () => {
    const { sessionId, workspace } = await service.open();
    const pieces: string[] = [];
    const result = await service.execute({
      sessionId,
      tool: "shell_exec",
      given: { command: "echo one; echo two > made" },
      onOutput: (text) => pieces.push(text),
    });
    expect(result).toMatchObject({ success: true, content: "one\n", exitCode: 0, resultBytes: 4n });
    expect(pieces.join("")).toBe("one\n");
    expect(readFileSync(join(workspace, "made"), "utf8")).toBe("two\n");
  });

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
    expect((await receipt(sessionId, "granted")).state).toBe(State.NEVER_STARTED);
    const grant = service.sign(call);
    expect((await service.execute({ ...call, grant })).success).toBe(true);
    expect(await refusal(service.execute({ ...call, callId: "second", grant }))).toBe("PermissionDenied grant_refused");
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

  it("runs a call id once: the second time its result is given back, and another call with it is refused", async () => {
    const { sessionId, workspace } = await service.open();
    const given = { command: "echo x >> count; wc -l < count" };
    const call = { sessionId, callId: "once", tool: "shell_exec", given };
    const first = await service.execute(call);
    const second = await service.execute(call);
    expect(first.content).toBe("1\n");
    expect(second).toMatchObject({ content: "1\n", durationMilliseconds: first.durationMilliseconds });
    expect(await refusal(service.execute({ ...call, given: { command: "echo y" } }))).toBe("AlreadyExists call_id_reused");
    expect(readFileSync(join(workspace, "count"), "utf8")).toBe("x\n");
  });

  it("starts only one of two calls with one id that come at once", async () => {
    const { sessionId, workspace } = await service.open();
    const call = { sessionId, callId: "twins", tool: "shell_exec", given: { command: "echo x >> count; sleep 0.2" } };
    const outcomes = await Promise.allSettled([service.execute(call), service.execute(call)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(readFileSync(join(workspace, "count"), "utf8")).toBe("x\n");
  });

  it("runs calls of one session in parallel", async () => {
    const { sessionId } = await service.open();
    const meet = (own: string, other: string) => ({ command: `touch ${own}; while [ ! -e ${other} ]; do sleep 0.01; done; echo met` });
    const results = await Promise.all([
      service.execute({ sessionId, tool: "shell_exec", given: meet("a", "b") }),
      service.execute({ sessionId, tool: "shell_exec", given: meet("b", "a") }),
    ]);
    expect(results.map(({ content }) => content)).toEqual(["met\n", "met\n"]);
  });

  it("ends the tool when the caller goes away, and keeps the receipt", async () => {
    const { sessionId, workspace } = await service.open();
    const leave = new AbortController();
    const command = "echo begun; while :; do date +%s%N > beat; sleep 0.01; done";
    const call = service.execute({
      sessionId,
      callId: "left",
      tool: "shell_exec",
      given: { command },
      signal: leave.signal,
      onOutput: () => leave.abort(),
    });
    expect(await refusal(call)).toMatch(/^Canceled /);
    await expect.poll(async () => (await receipt(sessionId, "left")).state).toBe(State.DONE);
    expect((await receipt(sessionId, "left")).result).toMatchObject({ success: false, errorCode: "cancelled" });
    const last = readFileSync(join(workspace, "beat"), "utf8");
    const left = await service.execute({ sessionId, tool: "shell_exec", given: { command: "pgrep -x 'date|sleep'" } });
    expect(left.exitCode).toBe(1);
    expect(readFileSync(join(workspace, "beat"), "utf8")).toBe(last);
  });

  it("starts a new sandbox where the last one ended", async () => {
    const { sessionId } = await service.open();
    const killed = await service.execute({ sessionId, tool: "shell_exec", given: { command: "touch kept; kill -9 $PPID" } });
    expect(killed).toMatchObject({ success: false, errorCode: "unavailable" });
    expect((await service.execute({ sessionId, tool: "shell_exec", given: { command: "ls" } })).content).toBe("kept\n");
  });

  it("gives a run 2 MiB of results and no more", async () => {
    const { sessionId, workspace } = await service.open();
    const runId = randomUUID();
    writeFileSync(join(workspace, "large.txt"), `${"x".repeat(999)}\n`.repeat(99));
    let total = 0;
    let last = { errorCode: "" };
    for (let turn = 0; turn < 25 && last.errorCode === ""; turn++) {
      const result = await service.execute({ sessionId, runId, tool: "read_file", given: { path: "large.txt", start_line: 1 } });
      total += result.content.length;
      last = result;
    }
    expect(last.errorCode).toBe("output_limit");
    expect(total).toBeLessThan(2 * 1024 * 1024 + 200);
    expect((await service.execute({ sessionId, runId: randomUUID(), tool: "read_file", given: { path: "large.txt" } })).success).toBe(true);
  });

  it("refuses calls without a token, for a session that is not open, and for another organization's", async () => {
    const { sessionId } = await service.open();
    await expect(service.client.getReceipt({ sessionId, callId: "x" })).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(await refusal(service.execute({ sessionId: randomUUID(), tool: "git_status", given: {} }))).toBe("NotFound session_not_found");
    expect(await refusal(service.execute({ sessionId, tool: "git_status", given: {}, principal: stranger }))).toBe(
      "NotFound session_not_found",
    );
    expect(await refusal(receipt(sessionId, "x", stranger))).toBe("NotFound session_not_found");
  });
});

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
    expect((await receipt(sessionId, "finished")).result).toMatchObject({ success: true, content: "done\n" });
    expect((await receipt(sessionId, "cut")).state).toBe(State.RUNNING);
    expect((await receipt(sessionId, "never")).state).toBe(State.NEVER_STARTED);

    // What the file would be had the process died here, with its last line cut short.
    const journal = join(service.stateDirectory, "receipts", `${sessionId}.ndjson`);
    const asItStood = readFileSync(journal, "utf8");
    await service.restart();
    writeFileSync(journal, `${asItStood}\n{"kind":"ended","callId":"cu`);

    expect((await receipt(sessionId, "finished")).result).toMatchObject({ content: "done\n" });
    expect((await receipt(sessionId, "cut")).state).toBe(State.UNKNOWN);
    expect((await receipt(sessionId, "never")).state).toBe(State.NEVER_STARTED);
    expect(await refusal(receipt(sessionId, "finished", stranger))).toBe("NotFound session_not_found");
    expect((await receipt(randomUUID(), "any")).state).toBe(State.UNKNOWN);

    await service.client.openWorkspace({ sessionId, path: workspace }, await service.headersOf(testPrincipal));
    expect((await service.execute({ sessionId, callId: "finished", tool: "shell_exec", given: { command: "echo done" } })).content).toBe(
      "done\n",
    );
    expect(
      await refusal(service.execute({ sessionId, callId: "cut", tool: "shell_exec", given: { command: "echo begun; sleep 60" } })),
    ).toBe("FailedPrecondition call_in_doubt");
    await service.execute({ sessionId, callId: "next", tool: "shell_exec", given: { command: "echo next" } });
    expect((await receipt(sessionId, "next")).state).toBe(State.DONE);
  });
});

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
    expect((await receipt(sessionId, "old")).state).toBe(State.DONE);
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
    expect(await refusal(open("/proc"))).toBe("FailedPrecondition workspace_not_allowed");
  });

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

describe("sandboxes over time", () => {
  it("stops an idle sandbox, and a call starts a new one with the files as they were", async () => {
    const short = await startTestService({ idleMilliseconds: 100 });
    const { sessionId } = await short.open();
    await short.execute({ sessionId, tool: "shell_exec", given: { command: "touch kept /tmp/gone" } });
    await expect.poll(() => short.sessions.get("local", sessionId).sandbox.isUp).toBe(false);
    expect((await short.execute({ sessionId, tool: "shell_exec", given: { command: "ls . /tmp" } })).content).toBe(
      ".:\nkept\n\n/tmp:\nhome\n",
    );
    await short.close();
  });

  it("makes room by stopping the sandbox that is idle the longest, and refuses where all are at work", async () => {
    const small = await startTestService({ maximumSandboxes: 1 });
    const one = await small.open();
    await small.execute({ ...one, tool: "shell_exec", given: { command: "true" } });
    const two = await small.open();
    await small.execute({ ...two, tool: "shell_exec", given: { command: "true" } });
    expect(small.sessions.get("local", two.sessionId).sandbox.isUp).toBe(true);
    const begun = Promise.withResolvers<string>();
    const leave = new AbortController();
    const busy = small.execute({
      ...two,
      tool: "shell_exec",
      given: { command: "echo begun; sleep 30" },
      onOutput: begun.resolve,
      signal: leave.signal,
    });
    busy.catch(() => undefined);
    await begun.promise;
    expect(await refusal(small.execute({ ...one, tool: "shell_exec", given: { command: "true" } }))).toBe(
      "ResourceExhausted too_many_sandboxes",
    );
    leave.abort();
    await small.close();
  });

  it("describes what isolates", async () => {
    const described = await service.client.describeIsolation({}, await service.headersOf(testPrincipal));
    expect(described.driver).toBe("bubblewrap");
    const active = described.features.filter((feature) => feature.active).map((feature) => feature.name);
    expect(active).toEqual(
      expect.arrayContaining(["user namespace", "network namespace", "seccomp", "process limit", "memory limit", "cleared environment"]),
    );
    expect(described.features.find((feature) => feature.name === "workspace quota")).toMatchObject({
      active: false,
      detail: expect.stringContaining("quota"),
    });
  });
});

describe("CloseWorkspace", () => {
  const close = async (sessionId: string, principal = testPrincipal) =>
    service.client.closeWorkspace({ sessionId }, await service.headersOf(principal));
  const journalOf = (sessionId: string): string => join(service.stateDirectory, "receipts", `${sessionId}.ndjson`);

  it("ends a session's sandbox and leaves none of its results on the disk", async () => {
    const { sessionId } = await service.open();
    await service.execute({ sessionId, callId: "before", tool: "shell_exec", given: { command: "echo secret" } });
    expect(readFileSync(journalOf(sessionId), "utf8")).toContain("secret");
    await close(sessionId);
    expect(existsSync(journalOf(sessionId))).toBe(false);
    expect(await refusal(service.execute({ sessionId, tool: "git_status", given: {} }))).toBe("NotFound session_not_found");
    expect((await receipt(sessionId, "before")).state).toBe(State.UNKNOWN);
    await close(sessionId);
  });

  it("writes nothing more of a call that it ends", async () => {
    const { sessionId } = await service.open();
    const begun = Promise.withResolvers<string>();
    const given = { command: "echo begun; sleep 60" };
    const running = service.execute({ sessionId, tool: "shell_exec", given, onOutput: begun.resolve });
    await begun.promise;
    await close(sessionId);
    expect(await running).toMatchObject({ success: false, errorCode: "unavailable" });
    expect(existsSync(journalOf(sessionId))).toBe(false);
  });

  it("starts no call that came before it and was not yet begun", async () => {
    const { sessionId, workspace } = await service.open();
    const session = service.sessions.get("local", sessionId);
    await close(sessionId);
    const run = { callId: "late", runId: "run", tool: "shell_exec", argumentsJson: '{"command":"touch late"}', fingerprint: "f" };
    const events = session.run({ ...run, timeoutMilliseconds: 10_000 }, new AbortController().signal);
    await expect(events.next()).rejects.toMatchObject({ reason: "session_not_found" });
    expect(existsSync(journalOf(sessionId))).toBe(false);
    expect(existsSync(join(workspace, "late"))).toBe(false);
  });

  it("forgets a session of an earlier process too, and none of another organization's", async () => {
    const { sessionId } = await service.open();
    await service.execute({ sessionId, tool: "shell_exec", given: { command: "true" } });
    expect(await refusal(close(sessionId, stranger))).toBe("NotFound session_not_found");
    await service.restart();
    expect(await refusal(close(sessionId, stranger))).toBe("NotFound session_not_found");
    expect(existsSync(journalOf(sessionId))).toBe(true);
    await close(sessionId);
    expect(existsSync(journalOf(sessionId))).toBe(false);
  });
});
