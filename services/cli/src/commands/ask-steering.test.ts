import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { ApprovalAnswer, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { answers } from "../testing/answers.ts";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm, type RunningHlvm } from "../testing/run-hlvm.ts";
import type { ScriptedEdge } from "../testing/scripted-edge.ts";
import { approvalInit } from "../testing/test-approval.ts";
import { TestTerminal } from "../testing/test-terminal.ts";

const READY = "Type to steer";
const PASTE_MODE_ON = "\u001b[?2004h";
const PASTE_MODE_OFF = "\u001b[?2004l";

/** A run that works until somebody said so many things to it, then answers. */
const untilSent = (count: number) =>
  edgeWith(async (it) => {
    it.append({ case: "messageDelta", value: { text: "working on" } });
    while (it.messages.length < count) await it.until("sent");
    it.append({ case: "messageDelta", value: { text: " it\n" } });
    await answers(it);
  });

async function askOn(edge: ScriptedEdge, words: readonly string[] = []): Promise<RunningHlvm & { type: (keys: string) => void }> {
  const hlvm = runHlvm(["ask", ...words, "q"], { edgeUrl: edge.url, terminal: true });
  await hlvm.shows("working on");
  await hlvm.shows(READY);
  return Object.assign(hlvm, { type: (keys: string) => void hlvm.child.stdin!.write(keys) });
}

describe("typing while hlvm ask runs", () => {
  it("queues a line with Enter, shows it as queued, and tears no output", async () => {
    const edge = await untilSent(1);
    const hlvm = await askOn(edge);
    hlvm.type("use the otter\u007f\u007f\u007fher file");
    await hlvm.shows("› use the other file");
    hlvm.type("\r");
    expect(await hlvm.ended).toBe(0);
    expect(edge.messages).toEqual([{ text: "use the other file", interrupt: false }]);
    expect(hlvm.stdout).toContain("user:test, queued: use the other file");
    expect(hlvm.stdout.lastIndexOf(PASTE_MODE_OFF)).toBeGreaterThan(hlvm.stdout.lastIndexOf(PASTE_MODE_ON));
    const terminal = new TestTerminal(80, 24);
    terminal.write(hlvm.stdout);
    const lines = ["working on", "user:test, queued: use the other file", " it", "It says hello."];
    expect((await terminal.lines()).map((line) => line.trimEnd())).toEqual(lines);
  });

  it("interrupts with what was typed on Esc, or with what is queued and not read, and never with nothing", async () => {
    const edge = await untilSent(3);
    const hlvm = await askOn(edge);
    hlvm.type("\u001b");
    await hlvm.shows("Type what the run shall go on with");
    hlvm.type("stop that");
    await hlvm.shows("› stop that");
    hlvm.type("\u001b");
    await hlvm.shows("user:test, interrupting: stop that");
    hlvm.type("and then\r");
    await hlvm.shows("user:test, queued: and then");
    hlvm.type("\u001b");
    expect(await hlvm.ended).toBe(0);
    expect(edge.messages).toEqual([
      { text: "stop that", interrupt: true },
      { text: "and then", interrupt: false },
      { text: "Go on with what I said, now.", interrupt: true },
    ]);
  });

  it("takes no key of a half-typed line for the answer to a question that appears, and brings the line back", async () => {
    const sent = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const edge = await edgeWith(async (it) => {
      it.append({ case: "messageDelta", value: { text: "working on" } });
      await asked.promise;
      const answered = it.until("answered");
      const approval = approvalInit("shell_exec", { command: "ls" });
      it.append({ case: "permissionCheck", value: { callId: "c1", tool: "shell_exec", decision: Decision.ASK, approval } });
      await answered;
      await sent.promise;
      await answers(it);
    });
    const hlvm = await askOn(edge);
    hlvm.type("half a l");
    await hlvm.shows("› half a l");
    asked.resolve();
    await hlvm.shows("has to be approved");
    expect(hlvm.stdout).not.toContain("y / n / a");
    for (const key of "y an") hlvm.type(key);
    await hlvm.shows("y / n / a");
    expect(edge.answers).toEqual([]);
    hlvm.type("n\r");
    await hlvm.shows("Denied.");
    await hlvm.shows("› half a ly an");
    await vi.waitFor(() => expect(edge.answers.map(({ answer }) => answer)).toEqual([ApprovalAnswer.DENY]));
    expect(edge.messages).toEqual([]);
    await vi.waitFor(() => {
      hlvm.type("\r");
      expect(edge.messages).toEqual([{ text: "half a ly an", interrupt: false }]);
    });
    sent.resolve();
    expect(await hlvm.ended).toBe(0);
  });

  it("sends pasted lines as one message, and shows none of their control sequences as such", async () => {
    const edge = await untilSent(1);
    const hlvm = await askOn(edge);
    hlvm.type("see: \u001b[200~one\r\n\u001b]52;c;cm0gLXJm\u0007two\u001b[201~");
    await hlvm.shows("› see: one⏎␛]52;c;cm0gLXJm␇two");
    hlvm.type("\r");
    expect(await hlvm.ended).toBe(0);
    expect(edge.messages).toEqual([{ text: "see: one\n\u001b]52;c;cm0gLXJm\u0007two", interrupt: false }]);
    expect(hlvm.stdout).not.toContain("\u001b]52");
  });

  it("keeps what is typed on one row of a terminal that gets narrower", async () => {
    const edge = await untilSent(1);
    const hlvm = await askOn(edge);
    hlvm.type("a line that is longer than the terminal will be");
    await hlvm.shows("› a line that is longer than the terminal will be");
    const pid = readFileSync(`/proc/${hlvm.child.pid}/task/${hlvm.child.pid}/children`, "utf8").trim();
    execFileSync("stty", ["-F", `/proc/${pid}/fd/0`, "cols", "30", "rows", "24"]);
    await hlvm.shows("› …than the terminal will be");
    hlvm.type("\r");
    expect(await hlvm.ended).toBe(0);
    expect(edge.messages).toEqual([{ text: "a line that is longer than the terminal will be", interrupt: false }]);
  });

  it("leaves with Ctrl-D, and the run goes on", async () => {
    const edge = await untilSent(1);
    const cancelled = vi.fn<() => void>();
    void edge.until("cancelled").then(cancelled);
    const hlvm = await askOn(edge);
    hlvm.type("\u0004");
    expect(await hlvm.ended).toBe(1);
    expect(hlvm.stdout).toContain(`hlvm session watch ${edge.sessionId}`);
    expect(cancelled).not.toHaveBeenCalled();
  });

  it("cancels with Ctrl-C, and gives the terminal back as it was", async () => {
    const edge = await untilSent(1);
    const cancelled = edge.until("cancelled");
    const hlvm = await askOn(edge);
    hlvm.type("half a line\u0003");
    await cancelled;
    expect(await hlvm.ended).toBe(130);
    expect(hlvm.stdout.lastIndexOf(PASTE_MODE_OFF)).toBeGreaterThan(hlvm.stdout.lastIndexOf(PASTE_MODE_ON));
  });

  it("says what was not sent, and keeps it", async () => {
    const edge = await untilSent(2);
    edge.refusesMessages = true;
    const hlvm = await askOn(edge);
    hlvm.type("too late\r");
    await hlvm.shows("It was not sent: No run is going on.");
    edge.refusesMessages = false;
    await hlvm.shows("› too late");
    hlvm.type("r\r");
    await hlvm.shows("queued: too later");
    hlvm.type("now\r");
    expect(await hlvm.ended).toBe(0);
  });

  it.each([["-p"], ["--json"]])(
    "is not there with %s, nor where output goes elsewhere or the terminal knows no cursor movements",
    async (flag) => {
      const edge = await edgeWith(answers);
      const asked = runHlvm(["ask", flag, "q"], { edgeUrl: edge.url, terminal: true });
      const dumb = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true, environment: { TERM: "dumb" } });
      const full = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true, outputIsFull: true });
      expect(await asked.ended).toBe(0);
      expect(await full.ended).not.toBe(0);
      expect(await dumb.ended).toBe(0);
      expect(asked.stdout + dumb.stdout + full.stdout).not.toContain(PASTE_MODE_ON);
    },
  );

  it("works in session watch too, of a run that somebody else asked for; leaving that changes nothing", async () => {
    const edge = await untilSent(1);
    const asked = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    await asked.shows("working on");
    const leaving = runHlvm(["session", "watch", edge.sessionId], { edgeUrl: edge.url, terminal: true });
    await leaving.shows("Ctrl-C ends the watching");
    leaving.child.stdin!.write("\u0004");
    expect(await leaving.ended).toBe(130);
    const watching = runHlvm(["session", "watch", edge.sessionId], { edgeUrl: edge.url, terminal: true });
    await watching.shows(READY);
    watching.child.stdin!.write("from the second terminal\r");
    expect(await watching.ended).toBe(0);
    expect(await asked.ended).toBe(0);
    expect(edge.messages).toEqual([{ text: "from the second terminal", interrupt: false }]);
    expect(watching.stdout).toContain("It says hello.");
  });

  it("gives the terminal back when it is told to end, whatever is half-typed", async () => {
    const edge = await untilSent(1);
    const cancelled = edge.until("cancelled");
    const hlvm = await askOn(edge);
    hlvm.type("half a line");
    await hlvm.shows("› half a line");
    process.kill(Number(readFileSync(`/proc/${hlvm.child.pid}/task/${hlvm.child.pid}/children`, "utf8")), "SIGTERM");
    await cancelled;
    expect(await hlvm.ended).toBe(143);
    expect(hlvm.stdout.lastIndexOf(PASTE_MODE_OFF)).toBeGreaterThan(hlvm.stdout.lastIndexOf(PASTE_MODE_ON));
    expect(hlvm.stdout).not.toContain("\u001b[?25l");
  });
});
