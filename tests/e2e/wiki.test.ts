import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linesOf, startTestMesh, type TestMesh } from "./test-mesh.ts";

const PAGE = "---\ntitle: Roll back\nsummary: How a release is taken back\n---\nPull the lever of the capstan, then see [[checks]].\n";
let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  workspace = mkdtempSync(join(tmpdir(), "hlvm-wiki-"));
  writeFileSync(join(workspace, "page.md"), PAGE);
  mesh = await startTestMesh({});
});
afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const wiki = (...words: string[]) => mesh.hlvm(["memory", "wiki", ...words], { cwd: workspace });

describe("hlvm memory wiki", () => {
  it("writes, lists, reads, finds and checks a page, each for scripts, too", async () => {
    expect(await wiki("list")).toMatchObject({ code: 0, stderr: expect.stringContaining("no pages yet") });
    expect(await wiki("write", "deploy/roll-back", "--file", "page.md", "--reason", "asked often")).toMatchObject({ code: 0 });
    expect((await wiki("list")).stdout).toMatch(/deploy\/roll-back +project +1 .*Roll back/);
    expect(linesOf(await wiki("list", "--json"))).toMatchObject([{ name: "deploy/roll-back", number: 1 }]);
    expect((await wiki("read", "deploy/roll-back")).stdout.trim()).toBe(PAGE.trim());
    expect((await wiki("search", "capstan", "lever")).stdout).toContain("deploy/roll-back (project): Roll back");
    const lint = await wiki("lint");
    expect(lint).toMatchObject({ code: 1, stdout: expect.stringContaining("deploy/roll-back:5 broken-link: There is no page checks.") });
    expect(linesOf(await wiki("history", "--json"))).toMatchObject([
      { name: "deploy/roll-back", state: "published", reason: "asked often" },
    ]);
  });

  it("refuses what was written on an old revision, a wrong name and a page that is too large", async () => {
    expect(await wiki("write", "deploy/roll-back", "--file", "page.md", "--base", "0")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Read it again"),
    });
    expect(await wiki("write", "../x", "--file", "page.md")).toMatchObject({ code: 1, stderr: expect.stringContaining("lower case") });
    writeFileSync(join(workspace, "large.md"), "x".repeat(65_537));
    expect(await wiki("write", "large", "--file", "large.md")).toMatchObject({ code: 2, stderr: expect.stringContaining("65537 bytes") });
    expect(await wiki("read", "nothing")).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no page") });
  });

  it("projects pages and pinned facts of the project, and nobody's own, and guards what it wrote", async () => {
    const memory = (...words: string[]) => mesh.hlvm(["memory", "write", ...words, "--pinned"], { cwd: workspace });
    await memory("--scope", "project", "The capstan is oiled on Mondays");
    await memory("--scope", "personal", "My locker is number seven");
    mkdirSync(join(workspace, "docs"));
    expect(await wiki("project", "docs", "--check")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("+ wiki/deploy/roll-back.md"),
    });
    expect(existsSync(join(workspace, "docs", "MEMORY.md"))).toBe(false);
    expect(await wiki("project", "docs")).toMatchObject({ code: 0 });
    const index = readFileSync(join(workspace, "docs", "MEMORY.md"), "utf8");
    expect(index).toContain("- The capstan is oiled on Mondays");
    expect(index).toContain("- [Roll back](wiki/deploy/roll-back.md): How a release is taken back");
    expect(index).not.toContain("locker");
    expect(await wiki("project", "docs", "--check")).toMatchObject({ code: 0 });
    const page = join(workspace, "docs", "wiki", "deploy", "roll-back.md");
    chmodSync(page, 0o644);
    writeFileSync(page, readFileSync(page, "utf8").replace("capstan", "windlass"));
    expect(await wiki("project", "docs")).toMatchObject({ code: 1, stderr: expect.stringContaining("was changed since HLVM wrote it") });
    rmSync(page);
    expect(await wiki("project", "docs")).toMatchObject({ code: 0 });
  });

  it("removes a page where it is told to, and keeps its history", async () => {
    expect(await wiki("remove", "deploy/roll-back")).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(await wiki("remove", "deploy/roll-back", "--yes")).toMatchObject({ code: 0 });
    expect(linesOf(await wiki("list", "--json"))).toEqual([]);
    expect(linesOf(await wiki("history", "deploy/roll-back", "--json"))).toMatchObject([{ removes: true, number: 2 }, { number: 1 }]);
    expect(await wiki("project", "docs", "--json")).toMatchObject({ code: 0, stdout: expect.stringContaining('"change":"removed"') });
  });
});
