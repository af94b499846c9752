import { existsSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkspace, linesOf, repositoryRoot, startTestMesh, type TestMesh } from "./test-mesh.ts";
import { runInTerminal } from "./run-in-terminal.ts";

const PROMPT = /y \/ n \/ a/;
const HLVM = join(repositoryRoot, "services", "cli", "bin", "hlvm");

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  mesh = await startTestMesh();
  workspace = await createWorkspace({ "a.txt": "a\n" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const inTerminal = (question: string, answers: readonly string[], flags: readonly string[] = []) =>
  runInTerminal(HLVM, ["ask", ...flags, question], { cwd: workspace, environment: mesh.environment, prompt: PROMPT, answers });

describe("a question for permission in the terminal", () => {
  it("shows the very command, and runs it after y", async () => {
    const { screen, code } = await inTerminal("run touch made-by-y", ["y"]);
    expect(screen).toContain("touch made-by-y");
    expect(code).toBe(0);
    expect(existsSync(join(workspace, "made-by-y"))).toBe(true);
  });

  it("shows what will be written, and writes nothing after n", async () => {
    const { screen } = await inTerminal("create never.txt with forbidden words", ["n"]);
    expect(screen).toContain("never.txt");
    expect(screen).toContain("forbidden words");
    expect(existsSync(join(workspace, "never.txt"))).toBe(false);
  });

  it("shows what a file that is written over loses and gains, and in a resumed session too", async () => {
    const written = await inTerminal("create a.txt with b", ["n"]);
    expect(written.screen).toMatch(/in place of the 2 bytes[^]*-a[^]*\+b/);
    const [session] = linesOf(await mesh.hlvm(["session", "list", "--json"]));
    const again = await inTerminal("create a.txt with c", ["n"], ["--resume", String(session!.session_id)]);
    expect(again.screen).toMatch(/in place of the 2 bytes[^]*-a[^]*\+c/);
  });

  it("is not put again for the same tool in this session after a, and is in another", async () => {
    await inTerminal("create first.txt with one", ["a"]);
    const [session] = linesOf(await mesh.hlvm(["session", "list", "--json"]));
    const again = await inTerminal("create second.txt with two", [], ["--resume", String(session!.session_id)]);
    expect(again).toMatchObject({ code: 0, screen: expect.not.stringMatching(PROMPT) });
    expect(existsSync(join(workspace, "second.txt"))).toBe(true);
    const elsewhere = await inTerminal("create third.txt with three", ["n"]);
    expect(elsewhere.screen).toMatch(PROMPT);
    expect(existsSync(join(workspace, "third.txt"))).toBe(false);
  });

  it("is in the audit log with who answered", async () => {
    const events = linesOf(await mesh.hlvm(["audit", "query", "--json", "--step", "approval", "--since", "1h"]));
    const person = `user:${userInfo().username}`;
    const newestFirst = [
      { arguments_json: expect.stringContaining("third.txt"), decision: "deny", rule: `approval: denied by ${person}` },
      { arguments_json: expect.stringContaining("first.txt"), decision: "allow", rule: `approval: session by ${person}` },
      { arguments_json: expect.stringContaining("a.txt"), decision: "deny", rule: `approval: denied by ${person}` },
      { arguments_json: expect.stringContaining("a.txt"), decision: "deny", rule: `approval: denied by ${person}` },
      { arguments_json: expect.stringContaining("never.txt"), decision: "deny", rule: `approval: denied by ${person}` },
      { arguments_json: expect.stringContaining("made-by-y"), decision: "allow", rule: `approval: once by ${person}` },
    ];
    expect(events).toEqual(newestFirst.map((event) => expect.objectContaining({ ...event, principal: person })));
    for (const { decision, outcome } of events) expect(outcome === "succeeded").toBe(decision === "allow");
    const asked = linesOf(await mesh.hlvm(["audit", "query", "--json", "--decision", "ask", "--since", "1h"]));
    expect(asked.map((event) => event.call_id)).toEqual(events.map((event) => event.call_id));
  });
});
