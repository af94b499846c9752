import { execFileSync, spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ChangedFile_Content_Kind as Kind } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { gitPatch, quotedPath } from "./git-patch.ts";

type Content = { readonly kind: Kind; readonly bytes: Uint8Array };
const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");
const file = (text: string, kind: Kind = Kind.FILE): Content => ({ kind, bytes: bytes(text) });
const lines = (count: number, word = "line"): string => Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join("");
/** Nothing in common, and too much to be compared. */
const large = [lines(30_000), lines(30_000, "other")] as const;

const CASES: [string, string, Content | undefined, Content | undefined][] = [
  ["a changed line", "src/a.txt", file(lines(20)), file(lines(20).replace("line 9\n", "changed\n"))],
  ["a new file", "new", undefined, file("one\n")],
  ["a new file without lines", "empty", undefined, file("")],
  ["a deleted file", "gone", file("one\ntwo"), undefined],
  ["a file that loses all its lines", "emptied", file("one\n"), file("")],
  ["no newline at the end, on either side", "end", file("a\nb"), file("a\nc")],
  ["carriage returns, and bytes that are no UTF-8", "bytes", file("a\r\nb\rc\n\xff\xfe\n"), file("a\nb\rc\n\xff\xfd\n\x85x")],
  ["a mode alone", "tool", file("x\n"), file("x\n", Kind.EXECUTABLE)],
  ["a mode and a line", "tool", file("x\n", Kind.EXECUTABLE), file("y\n")],
  ["a link that leads elsewhere", "link", file("one", Kind.LINK), file("two", Kind.LINK)],
  ["a file that becomes a link", "link", file("one\n"), file("/etc/passwd", Kind.LINK)],
  ["blanks in the name", "a b/c d", file("x\n"), file("y\n")],
  ["a name that would forge a patch", 'x\n+++ b/etc\n"\\\t', undefined, file("y\n")],
  ["a name with escape sequences and no UTF-8", "\x1b[2J\xff\u0007", file("x\n"), undefined],
  ["contents that look like a patch", "inner", file("--- a/x\n+++ b/x\n@@ -1 +1 @@\n"), file("-- a/y\n+++ b/x\ndiff --git a/z b/z\n")],
  ["too much to be compared", "large", file(large[0]), file(large[1])],
];

function put(folder: string, path: string, content: Content | undefined): void {
  if (content === undefined) return;
  const target = Buffer.concat([Buffer.from(`${folder}/`), bytes(path)]);
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  if (content.kind === Kind.LINK) symlinkSync(Buffer.from(content.bytes), target);
  else writeFileSync(target, content.bytes, { mode: content.kind === Kind.EXECUTABLE ? 0o755 : 0o644 });
}

function found(folder: string, path: string): Content | undefined {
  const target = Buffer.concat([Buffer.from(`${folder}/`), bytes(path)]);
  const stats = lstatSync(target, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return { kind: Kind.LINK, bytes: readlinkSync(target, "buffer") };
  return { kind: (stats.mode & 0o100) === 0 ? Kind.FILE : Kind.EXECUTABLE, bytes: readFileSync(target) };
}

describe("gitPatch", () => {
  it.each(CASES)("is what git apply takes, both ways: %s", (_, path, before, after) => {
    const folder = temporaryFolder();
    put(folder, path, before);
    const patch = gitPatch({ path: bytes(path), before, after });
    const apply = (...more: string[]) =>
      spawnSync("git", ["apply", "--whitespace=nowarn", ...more], { cwd: folder, input: patch, encoding: "utf8" });
    expect(apply()).toMatchObject({ status: 0, stderr: "" });
    expect(found(folder, path)).toEqual(after && { ...after, bytes: Buffer.from(after.bytes) });
    expect(apply("-R")).toMatchObject({ status: 0, stderr: "" });
    expect(found(folder, path)).toEqual(before && { ...before, bytes: Buffer.from(before.bytes) });
  });

  it("is what git diff prints", () => {
    const folder = temporaryFolder();
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...words], { cwd: folder });
    git("init", "-q");
    const changes = [
      { path: "bin", before: file("\0\x01"), after: file("\0\x02") },
      { path: "d/new b", before: undefined, after: file("x") },
      { path: "e\u00e9\n", before: file("x\n"), after: undefined },
      {
        path: "f",
        before: file(lines(30)),
        after: file(lines(30).replace("line 3\n", "").replace("line 25\n", "y\nz\n"), Kind.EXECUTABLE),
      },
      { path: "g", before: file("a", Kind.LINK), after: file("b", Kind.LINK) },
    ];
    for (const { path, before } of changes) put(folder, path, before);
    git("add", "-A");
    git("commit", "-q", "-m", "before");
    git("rm", "-q", "-r", ".");
    for (const { path, after } of changes) put(folder, path, after);
    git("add", "-A");
    const ours = changes.map(({ path, before, after }) => gitPatch({ path: bytes(path), before, after }).toString("latin1")).join("");
    // Git adds the line above a hunk as its heading.
    const theirs = git("diff", "--cached", "--full-index", "--no-renames", "HEAD").toString("latin1");
    expect(ours).toBe(theirs.replace(/^(@@ .* @@).*$/gm, "$1"));
  });

  it("quotes names as git does", () => {
    expect(quotedPath("a/", bytes("plain name-[1].ts"))).toBe("a/plain name-[1].ts");
    expect(quotedPath("", bytes('\n\t\r"\\\x1b\x7f\xe2\x80\xae'))).toBe('"\\n\\t\\r\\"\\\\\\033\\177\\342\\200\\256"');
  });
});
