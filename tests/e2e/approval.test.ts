import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visibleScreen } from "../attacks/terminal-screen.ts";
import { createWorkspace, eventsOf, linesOf, repositoryRoot, startTestMesh, type TestMesh } from "./test-mesh.ts";
import { COLUMNS, ROWS, runInTerminal, type TerminalOptions } from "./run-in-terminal.ts";

const PROMPT = /y \/ n \/ a/;
const HLVM = join(repositoryRoot, "services", "cli", "bin", "hlvm");

/** A model that proposes a plan, tries to write before it is accepted, and carries it out; and one that asks. */
const CONVERSATIONS = [
  {
    match: "plan the greeting",
    turns: [
      { toolCalls: [{ tool: "write_file", arguments: { path: "too-early.txt", content: "no" } }] },
      { toolCalls: [{ tool: "propose_plan", arguments: { plan: "1. Write greeting.txt with hello\n2. Read it" } }] },
      {
        toolCalls: [
          { tool: "write_file", arguments: { path: "greeting.txt", content: "hello" } },
          { tool: "todo", arguments: { items: [{ text: "Write greeting.txt with hallo", status: "completed" }] } },
        ],
      },
      { text: "It is written." },
    ],
  },
  {
    match: "choose a database",
    turns: [
      { toolCalls: [{ tool: "request_clarification", arguments: { question: "Which one?", choices: ["SQLite", "PostgreSQL"] } }] },
      { text: "Thank you." },
    ],
  },
  // Whether a turn was interrupted or had not begun when something was said depends on who was quicker.
  { match: "right now", turns: Array.from({ length: 3 }, () => ({ text: "Another way it is." })) },
  { match: "go another way", turns: Array.from({ length: 3 }, () => ({ text: "Far too late.", delayMilliseconds: 60_000 })) },
  { match: "think for long", turns: [{ text: "Far too late.", delayMilliseconds: 60_000 }] },
];

let mesh: TestMesh;
let scripts: string;
let workspace: string;

beforeAll(async () => {
  scripts = mkdtempSync(join(tmpdir(), "hlvm-script-"));
  writeFileSync(join(scripts, "script.json"), JSON.stringify({ conversations: CONVERSATIONS }));
  mesh = await startTestMesh({ HLVM_SCRIPT_FILE: join(scripts, "script.json") });
  workspace = await createWorkspace({ "a.txt": "a\n" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
  rmSync(scripts, { recursive: true });
});

const inTerminal = (question: string, answers: readonly string[], flags: readonly string[] = []) =>
  runInTerminal(HLVM, ["ask", ...flags, question], { cwd: workspace, environment: mesh.environment, prompt: PROMPT, answers });

/** What is on the screen when the answer is waited for, row by row. */
async function rowsAtPrompt(screen: string): Promise<string[]> {
  const { index, 0: prompt } = PROMPT.exec(screen)!;
  return (await visibleScreen(screen.slice(0, index + prompt.length), ROWS, COLUMNS)).split("\n");
}

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

  it.each([
    ["sixty line ends", "\n".repeat(60)],
    ["three thousand blanks", " ".repeat(3_000)],
  ])("keeps on the screen a command that %s would move off it", async (_, filler) => {
    const { screen } = await inTerminal(`run touch pwned;${filler}echo all is well`, ["n"]);
    const visible = await rowsAtPrompt(screen);
    expect(visible.some((row) => row.includes(">>>touch pwned<<<"))).toBe(true);
    expect(visible.some((row) => row.includes("echo all is well"))).toBe(true);
    expect(visible.some((row) => /^shell_exec \(L[12]\) has to be approved/.test(row))).toBe(true);
    expect(existsSync(join(workspace, "pwned"))).toBe(false);
  });

  it("does not take y before the end of a long command was seen", async () => {
    const question = `run touch pwned;\n${"echo all is well\n".repeat(100)}`;
    const prompt = /go on \(\d+ more\)|has to be seen first|y \/ n \/ a/;
    const early = await runInTerminal(HLVM, ["ask", question], {
      cwd: workspace,
      environment: mesh.environment,
      prompt,
      answers: ["y", "n"],
    });
    expect(early.screen).toMatch(/1 of \d+ pages[^]*>>>touch pwned<<<[^]*has to be seen first/);
    expect(early.screen).not.toContain("Allowed");
    expect(existsSync(join(workspace, "pwned"))).toBe(false);
  });

  it("can be answered from a second terminal, by who has seen it", async () => {
    const asked = Promise.withResolvers<void>();
    const options = { cwd: workspace, environment: mesh.environment, prompt: PROMPT, answers: [], onPrompt: asked.resolve };
    const first = runInTerminal(HLVM, ["ask", "run touch allowed-elsewhere"], options);
    await asked.promise;
    const [waiting] = linesOf(await mesh.hlvm(["approval", "list", "--json"]));
    const id = String(waiting!.approval_id);
    const [seen] = linesOf(await mesh.hlvm(["approval", "show", id, "--json"]));
    expect(await mesh.hlvm(["approval", "yes", id])).toMatchObject({ code: 2 });
    const other = await mesh.hlvm(["approval", "yes", id, "--arguments-hash", "0".repeat(64)]);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("is not what was shown") });
    expect(await mesh.hlvm(["approval", "yes", id, "--arguments-hash", String(seen!.arguments_hash)])).toMatchObject({ code: 0 });
    expect(await first).toMatchObject({ code: 0, screen: expect.stringContaining("answered elsewhere") });
    expect(existsSync(join(workspace, "allowed-elsewhere"))).toBe(true);
  });

  it("is in the audit log with who answered", async () => {
    const events = linesOf(await mesh.hlvm(["audit", "query", "--json", "--step", "approval", "--since", "1h"]));
    const person = `user:${userInfo().username}`;
    const newestFirst = [
      { arguments_json: expect.stringContaining("allowed-elsewhere"), decision: "allow", rule: `approval: once by ${person}` },
      ...Array.from({ length: 3 }, () => ({
        arguments_json: expect.stringContaining("pwned"),
        decision: "deny",
        rule: `approval: denied by ${person}`,
      })),
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
    const approved = await mesh.hlvm(["audit", "who-approved", "--approver", person, "--text", "made-by-y"]);
    expect(approved.stdout).toMatch(
      new RegExp(`^TIME .*LET THROUGH BY .*\n.* ${person} +\\S+ +${person}, once, \\d{4}-.* succeeded +.*made-by-y`),
    );
    const touched = linesOf(await mesh.hlvm(["audit", "touched", "never.txt", "--json"]));
    expect(touched).toMatchObject([{ decision: "deny", arguments_json: expect.stringContaining("never.txt") }]);
  });

  it("writes nothing where the file is another one than was shown by the time of the answer", async () => {
    const file = join(workspace, "shared.txt");
    writeFileSync(file, "first\n");
    const onPrompt = () => writeFileSync(file, "somebody else's\n");
    const { screen } = await runInTerminal(HLVM, ["ask", "create shared.txt with mine"], {
      cwd: workspace,
      environment: mesh.environment,
      prompt: PROMPT,
      answers: ["y"],
      onPrompt,
    });
    expect(screen).toContain("-first");
    expect(screen).toContain("not as it was when a person was shown");
    expect(readFileSync(file, "utf8")).toBe("somebody else's\n");
  });
});

describe("a run that asks with words", () => {
  const inScript = (question: string, flags: readonly string[], prompt: RegExp, answers: TerminalOptions["answers"]) =>
    runInTerminal(HLVM, ["ask", "--model", "scripted/script", ...flags, question], {
      cwd: workspace,
      environment: { ...mesh.environment, EDITOR: "sed -i s/hello/hallo/" },
      prompt,
      answers,
    });
  const showNewest = async () => {
    const [session] = linesOf(await mesh.hlvm(["session", "list", "--json"]));
    const id = String(session!.session_id);
    return { id, lines: linesOf(await mesh.hlvm(["session", "show", id, "--json"])) };
  };

  it("shows a plan, lets it be edited and accepted, and only then writes", async () => {
    const prompt = /Accept\? y/;
    const { screen, code } = await inScript("plan the greeting", ["--permission-mode", "plan"], prompt, ["e", "a"]);
    expect(screen).toMatch(/write_file[^]*denied \(mode, plan: L1\)[^]*Write greeting.txt with hello[^]*Write greeting.txt with hallo/);
    expect(screen).toContain("Accepted; the run goes on in the mode acceptEdits.");
    expect(code).toBe(0);
    expect(existsSync(join(workspace, "too-early.txt"))).toBe(false);
    expect(readFileSync(join(workspace, "greeting.txt"), "utf8")).toBe("hello");
    const { id, lines } = await showNewest();
    expect(eventsOf(lines, "plan_created")).toMatchObject([{ steps: ["Write greeting.txt with hello", "Read it"] }]);
    expect(eventsOf(lines, "plan_answered")).toMatchObject([{ accepted: true, permission_mode: "acceptEdits" }]);
    expect(eventsOf(lines, "plan_step")).toMatchObject([{ index: 1, completed: true }]);
    expect(eventsOf(lines, "turn_stats").map(({ phase }) => phase)).toEqual(["editing", "editing", "editing", "completing"]);
    const [shown] = linesOf(await mesh.hlvm(["plan", "show", id, "--json"]));
    expect(shown).toMatchObject({ state: "accepted", plan: expect.stringContaining("hallo") });
  });

  it("takes a question's answer from the terminal, by the number of a choice", async () => {
    const { screen } = await inScript("choose a database", [], /Enter answers/, ["2"]);
    expect(screen).toMatch(/asks you something. Whatever you answer allows nothing[^]*Which one\?[^]*1: SQLite/);
    const { lines } = await showNewest();
    expect(eventsOf(lines, "tool_end")).toMatchObject([{ content: expect.stringContaining("answered:\nPostgreSQL") }]);
  });

  it("reads what its person types while the model thinks, and Esc interrupts the turn for it", async () => {
    const { screen, code } = await inScript("think for long", [], /Type to steer/, [
      "go another way",
      { prompt: /queued: go another way/, keys: "right now\u001b" },
    ]);
    expect(code).toBe(0);
    expect(screen).toContain("Another way it is.");
    expect(screen).not.toContain("Far too late.");
    const { lines } = await showNewest();
    expect(eventsOf(lines, "message_queued")).toMatchObject([{ text: "go another way" }, { text: "right now", interrupts: true }]);
    expect(eventsOf(lines, "user_message").slice(1)).toMatchObject([{ text: "go another way" }, { author: `user:${userInfo().username}` }]);
  });

  it("takes plans and answers from a second terminal, and none that is nonsense", async () => {
    const asked = Promise.withResolvers<void>();
    const first = runInTerminal(HLVM, ["ask", "--model", "scripted/script", "--permission-mode", "plan", "plan the greeting"], {
      cwd: workspace,
      environment: mesh.environment,
      prompt: /Accept\? y/,
      answers: [],
      onPrompt: asked.resolve,
    });
    await asked.promise;
    const { id } = await showNewest();
    const file = join(scripts, "plan.md");
    for (const [text, said] of [
      ["", "is empty"],
      ["\u0000\u0001\u0002", "control characters"],
      ["x".repeat(70_000), "is the most"],
    ] as const) {
      writeFileSync(file, text);
      expect(await mesh.hlvm(["plan", "accept", id, "--file", file])).toMatchObject({ code: 1, stderr: expect.stringContaining(said) });
    }
    const [waiting] = linesOf(await mesh.hlvm(["plan", "show", id, "--json"]));
    expect(await mesh.hlvm(["plan", "accept", id])).toMatchObject({ code: 2 });
    expect(
      await mesh.hlvm(["approval", "yes", String(waiting!.approval_id), "--arguments-hash", String(waiting!.arguments_hash)]),
    ).toMatchObject({
      code: 2,
    });
    expect(await mesh.hlvm(["plan", "reject", id, "Not now"])).toMatchObject({ code: 0 });
    expect(await first).toMatchObject({ screen: expect.stringContaining("answered elsewhere") });
    const { lines } = await showNewest();
    expect(eventsOf(lines, "plan_answered")).toMatchObject([{ accepted: false, text: expect.stringContaining("Not now") }]);
  });
});
