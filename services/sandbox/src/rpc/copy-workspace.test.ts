import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { refusal } from "../testing/refusal.ts";
import { stranger } from "../testing/stranger.ts";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();
const runId = randomUUID();

async function openSession() {
  const { sessionId, workspace } = await service.open();
  const write = (turn: number, path: string, content: string) =>
    service.execute({ sessionId, runId, turn, tool: "write_file", given: { path, content } });
  const copy = async (turns: readonly number[] = [], principal = testPrincipal) => {
    const newSessionId = randomUUID();
    const asked = { sessionId, path: workspace, newSessionId, turns: turns.map((turn) => ({ runId, turn })) };
    const { workspace: made } = await service.client.copyWorkspace(asked, await service.headersOf(principal));
    await service.client.openWorkspace({ sessionId: newSessionId, path: "" }, await service.headersOf(principal));
    return { newSessionId, path: made!.path, at: (path: string) => join(made!.path, path) };
  };
  return { sessionId, workspace, write, copy, at: (path: string) => join(workspace, path) };
}

const changes = async (sessionId: string) =>
  (await service.client.getChanges({ sessionId }, await service.headersOf(testPrincipal))).files.map(({ path }) =>
    Buffer.from(path).toString(),
  );

describe("CopyWorkspace", () => {
  it("copies all that is there, and neither of the two sees what the other does from then on", async () => {
    const { workspace, write, copy, at } = await openSession();
    mkdirSync(at("bin"));
    writeFileSync(at("bin/tool"), "echo hi", { mode: 0o755 });
    symlinkSync("/etc/passwd", at("link"));
    writeFileSync(at("-dash\nline"), "odd");
    execFileSync("git", ["init", "-q", workspace]);
    await write(1, "a.txt", "one");
    const made = await copy();
    expect([basename(made.path), readFileSync(made.at("a.txt"), "utf8"), readFileSync(made.at("-dash\nline"), "utf8")]).toEqual([
      basename(workspace),
      "one",
      "odd",
    ]);
    expect([lstatSync(made.at("bin/tool")).mode & 0o777, readlinkSync(made.at("link")), existsSync(made.at(".git/HEAD"))]).toEqual([
      0o755,
      "/etc/passwd",
      true,
    ]);
    const own = { sessionId: made.newSessionId, runId, turn: 9, tool: "write_file" };
    await service.execute({ ...own, given: { path: "b.txt", content: "of the copy" } });
    await write(2, "a.txt", "two");
    expect([existsSync(at("b.txt")), readFileSync(made.at("a.txt"), "utf8")]).toEqual([false, "one"]);
    expect(await changes(made.newSessionId)).toEqual(["b.txt"]);
  });

  it("has the copy go back to before a turn, the original stays, and the copy goes back further", async () => {
    const { write, copy, at } = await openSession();
    writeFileSync(at("a.txt"), "zero");
    await write(1, "a.txt", "one");
    await write(2, "a.txt", "two");
    await write(3, "new.txt", "three");
    const made = await copy([2, 3]);
    expect([readFileSync(made.at("a.txt"), "utf8"), existsSync(made.at("new.txt"))]).toEqual(["one", false]);
    expect([readFileSync(at("a.txt"), "utf8"), existsSync(at("new.txt"))]).toEqual(["two", true]);
    expect(await changes(made.newSessionId)).toEqual([]);
    const again = { sessionId: made.newSessionId, turns: [{ runId, turn: 1 }], overwrite: true };
    await service.client.rewindWorkspace(again, await service.headersOf(testPrincipal));
    expect(readFileSync(made.at("a.txt"), "utf8")).toBe("zero");
  });

  it("is for the person whose session it is, and leaves nothing where it fails", async () => {
    const { sessionId, workspace, write, copy } = await openSession();
    await write(1, "a.txt", "one");
    expect(await refusal(copy([], stranger))).toBe("NotFound session_not_found");
    const big = { sessionId, runId, turn: 2, tool: "shell_exec", given: { command: "truncate -s 20M big" } };
    await service.execute(big);
    const newSessionId = randomUUID();
    const asked = { sessionId, path: workspace, newSessionId, turns: [] };
    const options = await service.headersOf(testPrincipal);
    expect(await refusal(service.client.copyWorkspace(asked, options))).toBe("ResourceExhausted workspace_too_large");
    expect(await refusal(service.client.openWorkspace({ sessionId: newSessionId, path: "" }, options))).toBe(
      "NotFound workspace_not_found",
    );
  });
});
