import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answers } from "../testing/answers.ts";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

describe("hlvm, called wrongly", () => {
  it.each([
    [["ask", "--permision-mode", "plan", "q"], "Did you mean --permission-mode?"],
    [["ask", "--permission-mode", "yolo", "q"], "Allowed choices are"],
    [["ask", "--allowedTools", "Bash", "q"], 'Bash" is not a tool'],
    [["ask", "--allow-secret", "[secret: x a1b2]", "q"], "the end of a secret's mark"],
    [["ask", "--resume", "yesterday", "q"], "hlvm session list"],
    [["ask", "--json", "--output-format", "text", "q"], "cannot be used with"],
    [["ask", "  "], "The question is empty."],
    [["ask"], "The question is empty."],
    [["ask", "-"], "The question is empty."],
    [["aks", "q"], "Did you mean ask?"],
    [["audit", "query", "--since", "yesterday"], "30m, 1h, 7d"],
    [["memory", "write", ""], "The fact is empty."],
    [["memory", "search", " "], "The search is empty."],
  ])("says so: %j", async (words, hint) => {
    const hlvm = runHlvm(words);
    expect(await hlvm.ended).toBe(2);
    expect(hlvm.stderr).toContain(hint);
    expect(hlvm.stderr).not.toMatch(/\n\s+at /);
  });

  it("refuses attachments that are not text, and what is too large, with what to do", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "binary"), Buffer.from([0x66, 0xff, 0x00]));
    writeFileSync(join(folder, "large"), "x".repeat(2 * 1024 * 1024 + 1));
    const binary = runHlvm(["ask", "--attach", "binary", "q"], { workingDirectory: folder });
    const large = runHlvm(["ask", "--attach", "large", "q"], { workingDirectory: folder });
    expect(await binary.ended).toBe(1);
    expect(binary.stderr).toMatch(/^binary is not text in UTF-8, and no image or document that can be attached\.\nWhat to do: /);
    expect(await large.ended).toBe(1);
    expect(large.stderr).toMatch(/^large is larger than 2 MB\.\nWhat to do: /);
  });

  it("refuses to attach what is no regular file, without waiting for it", async () => {
    const folder = temporaryFolder();
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const path of ["pipe", "/dev/zero", "."]) {
      const hlvm = runHlvm(["ask", "--attach", path, "q"], { workingDirectory: folder });
      expect(await hlvm.ended).toBe(1);
      expect(hlvm.stderr).toContain(`${path} cannot be attached: it is not a regular file.\nWhat to do: `);
    }
  });

  it.each([
    ["ask", ["ask", "q"]],
    ["memory search", ["memory", "search", "q"]],
  ])("%s says that the folder it was called in was deleted", async (_, words) => {
    const edge = await edgeWith(answers);
    const hlvm = runHlvm(words, { edgeUrl: edge.url, workingDirectoryIsGone: true });
    expect(await hlvm.ended).toBe(1);
    expect(hlvm.stderr).toMatch(/^The folder that you are in does not exist any more: .*\nWhat to do: Go to a folder that exists/m);
    expect(hlvm.stderr).not.toMatch(/ENOENT|uv_cwd/);
  });

  it("asks about another workspace where the folder it was called in was deleted", async () => {
    const folder = temporaryFolder();
    const edge = await edgeWith(answers);
    const hlvm = runHlvm(["ask", "--workspace", folder, "q"], { edgeUrl: edge.url, workingDirectoryIsGone: true });
    expect(await hlvm.ended).toBe(0);
    expect(edge.requests[0]!.workspace).toBe(folder);
  });

  it("refuses a workspace that it may not read", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o000);
    const hlvm = runHlvm(["ask", "--workspace", folder, "q"], { obeysModes: true });
    expect(await hlvm.ended).toBe(1);
    expect(hlvm.stderr).toContain(`The workspace ${folder} cannot be read: EACCES`);
    chmodSync(folder, 0o700);
  });
});
