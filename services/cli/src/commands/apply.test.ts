import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ChangedFile_Content_Kind as Kind, type ChangedFileSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { describe, expect, it } from "vitest";
import { edgeWith } from "../testing/edge-with.ts";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

type Change = MessageInitShape<typeof ChangedFileSchema>;
const SESSION = "7b1f6f0e-0d58-4d4e-9d0a-000000000001";

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));
const file = (text: string, kind: Kind = Kind.FILE) => ({ kind, bytes: bytes(text) });
const added = (path: string, text = "x\n", kind: Kind = Kind.FILE): Change => ({ path: bytes(path), after: file(text, kind) });
const modified = (path: string, before: string, after: string): Change => ({ path: bytes(path), before: file(before), after: file(after) });

/** A repository, with a folder beside it that a change may not reach. */
function folders(): { folder: string; outside: string } {
  const both = temporaryFolder();
  const [folder, outside] = [join(both, "here"), join(both, "outside")];
  for (const path of [folder, outside]) mkdirSync(path);
  execFileSync("git", ["init", "-q", folder]);
  return { folder, outside };
}

async function apply(folder: string, files: Change[], ...flags: string[]) {
  const edge = await edgeWith(async () => undefined);
  edge.changedFiles.push(...files);
  const running = runHlvm(["apply", SESSION, ...flags], { edgeUrl: edge.url, workingDirectory: folder });
  return { code: await running.ended, stdout: running.stdout, stderr: running.stderr };
}

describe("hlvm apply", () => {
  it("adds, changes, deletes and links, and knows what is here already", async () => {
    const { folder } = folders();
    writeFileSync(join(folder, "same"), "new\n");
    mkdirSync(join(folder, "old"));
    writeFileSync(join(folder, "old", "gone"), "gone\n");
    writeFileSync(join(folder, "mode"), "m\n");
    chmodSync(join(folder, "mode"), 0o640);
    const changes: Change[] = [
      added("deep/new", "new\n", Kind.EXECUTABLE),
      added("link", "deep/new", Kind.LINK),
      modified("same", "old\n", "new\n"),
      { path: bytes("old/gone"), before: file("gone\n") },
      { path: bytes("mode"), before: file("m\n"), after: file("m\n", Kind.EXECUTABLE) },
    ];
    expect(await apply(folder, changes, "--check")).toMatchObject({ code: 0, stderr: expect.stringContaining("nothing was written") });
    expect(existsSync(join(folder, "deep"))).toBe(false);
    const ended = await apply(folder, changes, "--json");
    expect(ended).toMatchObject({ code: 0 });
    expect(jsonLines(ended.stdout).at(-1)).toEqual({ type: "final", files: 5, conflicts: 0, written: true, left_out: [] });
    expect(readFileSync(join(folder, "link"), "utf8")).toBe("new\n");
    expect(lstatSync(join(folder, "link")).isSymbolicLink()).toBe(true);
    expect(statSync(join(folder, "deep", "new")).mode & 0o100).toBe(0o100);
    expect(statSync(join(folder, "mode")).mode & 0o777).toBe(0o750);
    expect(readdirSync(folder).toSorted()).toEqual([".git", "deep", "link", "mode", "same"]);
  });

  it.each<[string, Change, string | undefined, string]>([
    ["lines that both changed", modified("f", "a\n", "b\n"), "c\n", "the same lines"],
    ["a file that was deleted here", modified("f", "a\n", "b\n"), undefined, "deleted here"],
    ["a file that the session deleted", { path: bytes("f"), before: file("a\n") }, "c\n", "the session deleted it"],
    ["a file that both made", added("f"), "c\n", "another one is here"],
    ["what is no text", modified("f", "\0a\n", "\0b\n"), "\0c\n", "is no text"],
  ])("shows a conflict and writes nothing: %s", async (_, change, here, why) => {
    const { folder } = folders();
    if (here !== undefined) writeFileSync(join(folder, "f"), here);
    const ended = await apply(folder, [added("other"), change]);
    expect(ended).toMatchObject({ code: 3, stdout: expect.stringContaining(why), stderr: expect.stringContaining("Nothing was written") });
    expect(existsSync(join(folder, "other"))).toBe(false);
    expect(existsSync(join(folder, "f")) ? readFileSync(join(folder, "f"), "utf8") : undefined).toBe(here);
    const rest = await apply(folder, [added("other"), change], "--conflicts");
    expect(rest.code).toBe(3);
    expect(existsSync(join(folder, "other"))).toBe(true);
  });

  it("warns of what programs obey", async () => {
    const { folder } = folders();
    const ended = await apply(folder, [added(".github/workflows/x.yml")]);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining("is obeyed by CI") });
  });

  it("works in a folder that is no repository", async () => {
    const folder = temporaryFolder();
    expect(await apply(folder, [added("new")])).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "new"), "utf8")).toBe("x\n");
  });
});

describe("a hostile change", () => {
  it.each([
    "../outside/owned",
    "a/../../outside/owned",
    "/tmp/hlvm-owned",
    "./owned",
    "a//owned",
    "..\\owned",
    ".git/hooks/pre-commit",
    ".git",
    ".GIT/config",
    "sub/.git/config",
    "git~1/config",
    ".git./config",
    ".git::$INDEX_ALLOCATION/config",
    ".g\u200cit/config",
    "hooks/pre-commit",
    "through/owned",
    "",
  ])("is refused as a whole: %j", async (path) => {
    const { folder, outside } = folders();
    execFileSync("git", ["config", "core.hooksPath", "hooks"], { cwd: folder });
    symlinkSync(outside, join(folder, "through"));
    const before = readdirSync(join(folder, ".git"), { recursive: true });
    const ended = await apply(folder, [added("innocent"), added(path)], "--conflicts");
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("refused") });
    expect(readdirSync(folder).toSorted()).toEqual([".git", "through"]);
    expect(readdirSync(join(folder, ".git"), { recursive: true })).toEqual(before);
    expect(readdirSync(outside)).toEqual([]);
  });

  it.each(["../outside", "/etc", ".git/hooks", "a/../../outside"])("makes no link out of the folder: %s", async (target) => {
    const { folder } = folders();
    expect(await apply(folder, [added("link", target, Kind.LINK)])).toMatchObject({ code: 1 });
    expect(readdirSync(folder)).toEqual([".git"]);
  });

  it("writes nothing through a link of its own", async () => {
    const { folder } = folders();
    expect(await apply(folder, [added("a", "b", Kind.LINK), added("a/owned")])).toMatchObject({ code: 1 });
    expect(readdirSync(folder)).toEqual([".git"]);
    rmSync(folder, { recursive: true });
  });
});
