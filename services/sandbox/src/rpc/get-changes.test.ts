import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ChangedFile_Content_Kind as Kind, type ChangedFile_Content } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { stranger } from "../testing/stranger.ts";
import { useTestService } from "../testing/use-test-service.ts";

const MEBIBYTE = 1024 * 1024;
const service = useTestService();

async function openSession() {
  const { sessionId, workspace } = await service.open();
  const runId = randomUUID();
  const ask = async (anyWorkspace = true, principal = testPrincipal) =>
    service.client.getChanges({ sessionId, anyWorkspace }, await service.headersOf(principal));
  return {
    at: (path: string) => join(workspace, path),
    ask,
    shell: (turn: number, command: string) => service.execute({ sessionId, runId, turn, tool: "shell_exec", given: { command } }),
    rewind: async (turn: number) =>
      service.client.rewindWorkspace({ sessionId, turns: [{ runId, turn }] }, await service.headersOf(testPrincipal)),
    changes: async () =>
      (await ask()).files.map(({ path, before, after, changedByOthers }) => [text(path), told(before), told(after), changedByOthers]),
  };
}

const WORDS: Readonly<Record<Kind, string>> = {
  [Kind.UNSPECIFIED]: "?",
  [Kind.FILE]: "file",
  [Kind.EXECUTABLE]: "executable",
  [Kind.LINK]: "link",
};

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");
const told = (content: ChangedFile_Content | undefined): string | undefined => content && `${WORDS[content.kind]} ${text(content.bytes)}`;

describe("GetChanges of any workspace", () => {
  it("tells each file and link before the session's first writing turn and now, whoever changed it", async () => {
    const { at, shell, changes, rewind } = await openSession();
    expect(await changes()).toEqual([]);
    mkdirSync(at("folder"));
    writeFileSync(at("folder/gone"), "1");
    writeFileSync(at("kept"), "1");
    writeFileSync(at("tool"), "1");
    symlinkSync("/etc/passwd", at("link"));
    await shell(1, "rm -r folder; ln -sfn kept link; chmod +x tool; mkdir empty; printf 2 > new");
    await shell(2, 'printf 3 > "$(printf \'esc\\033[2J\\n"\')"; printf 4 > new');
    // The look after a turn goes on beside what comes next; this waits for it.
    expect(await changes()).toHaveLength(5);
    writeFileSync(at("kept"), "by hand");
    const expected = [
      ['esc\u001b[2J\n"', undefined, "file 3", false],
      ["folder/gone", "file 1", undefined, false],
      ["kept", "file 1", "file by hand", true],
      ["link", "link /etc/passwd", "link kept", false],
      ["new", undefined, "file 4", false],
      ["tool", "file 1", "executable 1", false],
    ];
    expect(await changes()).toEqual(expected);
    // An open session is not needed: the service is another one now.
    await service.restart();
    expect(await changes()).toEqual(expected);
    rmSync(at("kept"));
    writeFileSync(at("kept"), "1");
    chmodSync(at("kept"), 0o644);
    await rewind(1);
    expect(await changes()).toEqual([]);
  });

  it("tells what is changed while a command is still at it, and does not take that for another's work", async () => {
    const { shell, changes, at } = await openSession();
    writeFileSync(at("first"), "1");
    const running = shell(1, "printf 1 > begun; until test -e go; do sleep 0.05; done");
    await expect.poll(changes).toEqual([["begun", undefined, "file 1", false]]);
    writeFileSync(at("go"), "");
    await running;
  });

  it("names what there is no room for, and goes on with the rest", async () => {
    const { at, shell, ask } = await openSession();
    writeFileSync(at("a-large"), Buffer.alloc(17 * MEBIBYTE));
    await shell(1, "rm a-large; head -c 6000000 /dev/zero > b; head -c 6000000 /dev/zero > c; echo d > d");
    const { files, leftOutChanges, furtherChanges } = await ask();
    expect(files.map(({ path }) => text(path))).toEqual(["b", "d"]);
    expect(leftOutChanges.map(({ path, why }) => [text(path), why])).toEqual([
      ["a-large", expect.stringContaining("was not kept")],
      ["c", expect.stringContaining("more than 8 MiB")],
    ]);
    expect(furtherChanges).toBe(0);
    await shell(2, "mkdir many; cd many; seq 1 2100 | xargs touch");
    expect(await ask()).toMatchObject({ furtherChanges: 104 });
  });

  it("is for the session's own person, and for prepared workspaces alone unless more is asked for", async () => {
    const { ask, shell } = await openSession();
    await shell(1, "echo 1 > a");
    await expect(ask(true, stranger)).rejects.toThrow("session");
    await expect(ask(false)).rejects.toThrow("has no workspace of its own");
    const asked = { sessionId: randomUUID(), anyWorkspace: true };
    await expect(service.client.getChanges(asked, await service.headersOf(testPrincipal))).rejects.toThrow("is not known here");
  });
});
