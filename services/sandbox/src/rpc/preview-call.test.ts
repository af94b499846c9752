import { createHash } from "node:crypto";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { refusal } from "../testing/refusal.ts";
import { stranger } from "../testing/stranger.ts";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

async function openSession() {
  const { sessionId, workspace } = await service.open();
  const preview = async (tool: string, given: object, principal = testPrincipal) =>
    service.client.previewCall({ sessionId, tool, argumentsJson: JSON.stringify(given) }, await service.headersOf(principal));
  return { sessionId, workspace, preview, at: (path: string) => join(workspace, path) };
}

describe("PreviewCall", () => {
  it("tells what a call would change where the files are, and changes nothing", async () => {
    const { preview, at } = await openSession();
    writeFileSync(at("a.txt"), "one\ntwo\n");
    const over = await preview("write_file", { path: "a.txt", content: "one\n2\n" });
    expect(over).toMatchObject({ presentSha256: sha256("one\ntwo\n"), presentBytes: 8n, diff: "@@ -1,2 +1,2 @@\n one\n-two\n+2" });
    const edit = await preview("edit_file", { path: "a.txt", old_text: "two", new_text: "2" });
    expect([edit.presentSha256, edit.diff]).toEqual([over.presentSha256, over.diff]);
    expect(await preview("write_file", { path: "new/b.txt", content: "x\n" })).toMatchObject({
      presentSha256: "",
      diff: "@@ -0,0 +1,1 @@\n+x",
    });
    expect([readFileSync(at("a.txt"), "utf8"), existsSync(at("new"))]).toEqual(["one\ntwo\n", false]);
  });

  it("tells of what is no text only that it is there, and of a protected path as of any other", async () => {
    const { preview, at } = await openSession();
    writeFileSync(at("image"), Buffer.from([0, 1, 2]));
    expect(await preview("write_file", { path: "image", content: "x" })).toMatchObject({ presentBytes: 3n, diff: "" });
    expect(await preview("write_file", { path: ".envrc", content: "x\n" })).toMatchObject({
      presentSha256: "",
      diff: expect.stringContaining("+x"),
    });
  });

  it("tells nothing of what is outside, of calls that would fail, of other tools, or to other people", async () => {
    const { preview, at } = await openSession();
    symlinkSync("/etc/passwd", at("link"));
    writeFileSync(at("a.txt"), "one\n");
    for (const [tool, given] of [
      ["write_file", { path: "link", content: "x" }],
      ["write_file", { path: "../a", content: "x" }],
      ["edit_file", { path: "a.txt", old_text: "absent", new_text: "x" }],
      ["shell_exec", { path: "a.txt", command: "ls" }],
    ] as const)
      expect(await refusal(preview(tool, given))).toBe("FailedPrecondition not_previewed");
    expect(await refusal(preview("write_file", { path: "a.txt", content: "x" }, stranger))).toBe("NotFound session_not_found");
  });
});

describe("a call that a person allowed after they saw what it changes", () => {
  it("writes the file that they saw, and no other", async () => {
    const { sessionId, at } = await openSession();
    const write = (expectedSha256: string) =>
      service.execute({ sessionId, tool: "write_file", given: { path: "a.txt", content: "mine" }, expectedSha256 });
    expect(await write("")).toMatchObject({ success: true });
    writeFileSync(at("a.txt"), "theirs");
    for (const expected of ["", sha256("mine")])
      expect(await write(expected)).toMatchObject({
        success: false,
        errorCode: "no_match",
        content: expect.stringContaining("not as it was"),
      });
    const edit = { sessionId, tool: "edit_file", given: { path: "a.txt", old_text: "theirs", new_text: "mine" } };
    expect(await service.execute({ ...edit, expectedSha256: sha256("other") })).toMatchObject({ errorCode: "no_match" });
    expect(readFileSync(at("a.txt"), "utf8")).toBe("theirs");
    expect(await service.execute({ ...edit, expectedSha256: sha256("theirs") })).toMatchObject({ success: true });
    expect(readFileSync(at("a.txt"), "utf8")).toBe("mine");
  });
});
