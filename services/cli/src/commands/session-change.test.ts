import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ArchiveFilter, SessionState } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm, type RunOptions } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

async function session(words: readonly string[], options: RunOptions) {
  const running = runHlvm(["session", ...words], options);
  const exitCode = await running.ended;
  return { exitCode, stdout: running.stdout, stderr: running.stderr };
}

describe("hlvm session", () => {
  it("list narrows by every filter, and shows where words were found", async () => {
    const edge = await edgeWith(async () => {});
    const folder = realpathSync(temporaryFolder());
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    const at = { edgeUrl: edge.url, workingDirectory: folder };
    const found = await session(["list", "--text", "quetzal nest", "--workspace", "link", "--model", "a/b", "--archived"], at);
    expect(found.stdout).toMatch(/^SESSION .* TITLE +FOUND\n.* a title +…said quetzal nest\n$/);
    expect(edge.lists[0]).toMatchObject({
      text: "quetzal nest",
      workspace: join(folder, "real"),
      model: "a/b",
      archived: ArchiveFilter.ONLY,
    });
    const json = await session(["list", "--text", "x", "--state", "running", "--since", "1h", "--json"], at);
    expect(JSON.parse(json.stdout)).toMatchObject({ title: "a title", excerpt: "…said x" });
    expect(edge.lists[1]).toMatchObject({ state: SessionState.RUNNING, lastStopReason: StopReason.UNSPECIFIED });
    expect(edge.lists[1]!.since).toBeDefined();
    await session(["list", "--state", "user_cancelled", "--workspace", "gone", "--with-archived"], at);
    const last = { workspace: join(folder, "gone"), lastStopReason: StopReason.USER_CANCELLED, archived: ArchiveFilter.INCLUDED };
    expect(edge.lists[2]).toMatchObject(last);
    edge.sessionCount = 0;
    expect((await session(["list", "--model", "a/b"], at)).stderr).toBe("No session fits.\n");
  });

  it("rename, archive and unarchive change one, and tell of it", async () => {
    const edge = await edgeWith(async () => {});
    const at = { edgeUrl: edge.url };
    const { sessionId } = edge;
    expect((await session(["rename", sessionId, "a", "better", "title"], at)).stderr).toContain('"a better title"');
    expect((await session(["archive", sessionId], at)).stderr).toContain("--archived");
    expect(JSON.parse((await session(["unarchive", sessionId, "--json"], at)).stdout)).toMatchObject({ archived: false });
    expect(edge.changes.map(([, given]) => given)).toEqual([
      { sessionId, title: "a better title", archived: undefined },
      { sessionId, title: undefined, archived: true },
      { sessionId, title: undefined, archived: false },
    ]);
  });

  it("delete asks first, and where nobody can be asked needs --yes", async () => {
    const edge = await edgeWith(async () => {});
    const { sessionId } = edge;
    const unasked = await session(["delete", sessionId], { edgeUrl: edge.url });
    expect([unasked.exitCode, unasked.stderr]).toEqual([2, expect.stringContaining("Give --yes")]);
    const asked = runHlvm(["session", "delete", sessionId], { edgeUrl: edge.url, terminal: true });
    await asked.shows("Delete it? [y/n]");
    asked.child.stdin!.write("n");
    expect(await asked.ended).toBe(1);
    expect(asked.stdout).toContain("the audit log stay as they are");
    expect(edge.changes).toEqual([]);
    const deleted = await session(["delete", sessionId, "--yes", "--json"], { edgeUrl: edge.url });
    expect([deleted.exitCode, JSON.parse(deleted.stdout)]).toEqual([0, { type: "delete", session_id: sessionId, deleted: true }]);
    expect(edge.changes).toEqual([["deleteSession", { sessionId }]]);
  });

  it("undo shows what goes back and what stays, and asks", async () => {
    const edge = await edgeWith(async () => {});
    const { sessionId } = edge;
    const asked = runHlvm(["session", "undo", sessionId, "--to", "2"], { edgeUrl: edge.url, terminal: true });
    await asked.shows("Go back? [y/n]");
    expect(asked.stdout).toContain("turn 3 is undone: made␛[2J it");
    expect(asked.stdout).toContain("is deleted: made");
    expect(asked.stdout).toContain("stays, others changed it: by ⏎ hand");
    asked.child.stdin!.write("y");
    expect(await asked.ended).toBe(0);
    expect(asked.stdout).toContain("Back at turn 2: 1 turn undone, 1 path went back.");
    const given = { sessionId, toTurn: 2, overwrite: false };
    expect(edge.changes.map(([, change]) => change)).toEqual([
      { ...given, preview: true },
      { ...given, preview: false },
    ]);
    const scripted = await session(["undo", sessionId, "--to", "0", "--yes", "--overwrite", "--partial", "--json"], { edgeUrl: edge.url });
    expect(JSON.parse(scripted.stdout)).toMatchObject({ type: "undo", path_count: 2, turns: [{ turn: 1 }], incomplete: true });
    const refused = await session(["undo", sessionId, "--to", "0", "--yes"], { edgeUrl: edge.url });
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("Not all would go back.")]);
    const incomplete = await session(["undo", sessionId, "--to", "0", "--yes", "--partial"], { edgeUrl: edge.url });
    expect(incomplete.stderr).toContain("may not be kept any more: not all that they wrote goes back.");
    expect(edge.changes.at(-1)).toEqual(["undoToTurn", { sessionId, toTurn: 0, preview: false, overwrite: false }]);
    const partly = runHlvm(["session", "undo", sessionId, "--to", "0"], { edgeUrl: edge.url, terminal: true });
    await partly.shows("Go back as far as that goes? [y/n]");
    partly.child.stdin!.write("y");
    expect(await partly.ended).toBe(0);
  });

  it("export writes every piece, import sends a file and the folder one is in, fork names the new one", async () => {
    const edge = await edgeWith(async () => {});
    const { sessionId } = edge;
    const folder = realpathSync(temporaryFolder());
    const at = { edgeUrl: edge.url, workingDirectory: folder };
    expect((await session(["export", sessionId, "--format", "markdown"], at)).stdout).toBe("format 2, \u001b[2J the rest\n");
    writeFileSync(join(folder, "one.ndjson"), '{"type":"session"}\n');
    expect((await session(["import", "one.ndjson"], at)).stderr).toContain(`hlvm ask --resume ${sessionId}`);
    expect(edge.changes[0]).toEqual(["importSession", { ndjson: '{"type":"session"}\n', workspace: folder }]);
    writeFileSync(join(folder, "two.ndjson"), new Uint8Array([0xff, 0xfe]));
    expect(await session(["import", "two.ndjson"], at)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("cannot be imported"),
    });
    expect((await session(["fork", sessionId, "--at", "7"], at)).stderr).toContain("Forked at event 7 as session");
    expect(edge.changes[1]).toEqual(["forkSession", { sessionId, atSequence: 7n }]);
  });
});
