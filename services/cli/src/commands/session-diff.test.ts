import type { MessageInitShape } from "@bufbuild/protobuf";
import { ChangedFile_Content_Kind as Kind, type ChangedFileSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { describe, expect, it } from "vitest";
import { edgeWith } from "../testing/edge-with.ts";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm, type RunOptions } from "../testing/run-hlvm.ts";

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));
const file = (text: string) => ({ kind: Kind.FILE, bytes: bytes(text) });
const FILES: MessageInitShape<typeof ChangedFileSchema>[] = [
  { path: bytes("a"), before: file("1\n"), after: file("2\u001b[2J\n"), changedByOthers: true },
  { path: bytes("bin\u001b[2J"), after: file("\0") },
];
const PATCH_END = '"b/bin\\033[2J" differ\n';

async function diff(files: typeof FILES, options: RunOptions & { json?: boolean } = {}) {
  const edge = await edgeWith(async () => undefined);
  edge.changedFiles.push(...files);
  if (files.length > 0)
    edge.untoldChanges = { leftOut: ["inner\n"], leftOutChanges: [{ path: bytes("large"), why: "too large" }], furtherChanges: 7 };
  const running = runHlvm(["session", "diff", edge.sessionId, ...(options.json === true ? ["--json"] : [])], {
    ...options,
    edgeUrl: edge.url,
  });
  return { code: await running.ended, stdout: running.stdout, stderr: running.stderr };
}

describe("hlvm session diff", () => {
  it("writes the patch byte for byte, and names beside it what is not in it and what others changed", async () => {
    const { code, stdout, stderr } = await diff(FILES);
    expect(code).toBe(0);
    expect(stdout).toContain("@@ -1 +1 @@\n-1\n+2\u001b[2J\n");
    expect(stdout.endsWith(PATCH_END)).toBe(true);
    expect(stderr).toContain("large is left out: too large.");
    expect(stderr).toContain('"inner\\n" is left out: it is a repository within the workspace.');
    expect(stderr).toContain("7 further changes left out.");
    expect(stderr).toContain("Others changed these too, which is in the patch: a.");
  });

  it("is harmless on a terminal", async () => {
    const { stdout } = await diff(FILES, { terminal: true });
    expect(stdout).toContain("+2␛[2J");
    expect(stdout).not.toContain("\u001b[2J");
  });

  it("tells the same to programs", async () => {
    const { stdout } = await diff(FILES, { json: true });
    expect(stdout).not.toContain("\u001b");
    expect(jsonLines(stdout)).toEqual([
      {
        type: "file",
        path: "a",
        change: "modified",
        binary: false,
        changed_by_others: true,
        patch: expect.stringContaining("+2\u001b[2J"),
      },
      {
        type: "file",
        path: "bin\u001b[2J",
        change: "added",
        binary: true,
        changed_by_others: false,
        patch: expect.stringContaining(PATCH_END),
      },
      {
        type: "final",
        files: 2,
        left_out: [
          { path: "large", why: "too large" },
          { path: '"inner\\n"', why: "it is a repository within the workspace" },
        ],
        further_changes: 7,
      },
    ]);
  });

  it("says where nothing was changed", async () => {
    expect(await diff([])).toEqual({ code: 0, stdout: "", stderr: "The session has changed nothing.\n" });
  });
});
