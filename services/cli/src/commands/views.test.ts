import { describe, expect, it } from "vitest";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm } from "../testing/run-hlvm.ts";

describe("hlvm session", () => {
  it("watch shows a run live from an event on, and ends with it", async () => {
    let finish = (): void => {};
    const mayFinish = new Promise<void>((resolve) => (finish = resolve));
    const edge = await edgeWith(async (it) => {
      it.append({ case: "messageDelta", value: { text: "one " } });
      await mayFinish;
      it.append({ case: "messageDelta", value: { text: "two" } });
      it.stop(StopReason.COMPLETED, { text: "one two" });
    });
    const asking = runHlvm(["ask", "a question"], { edgeUrl: edge.url });
    await asking.shows("one");
    const all = runHlvm(["session", "watch", edge.sessionId], { edgeUrl: edge.url });
    const late = runHlvm(["session", "watch", edge.sessionId, "--from", "3", "--json"], { edgeUrl: edge.url });
    await all.shows("one");
    finish();
    expect(await all.ended).toBe(0);
    expect(all.stdout).toBe("user:test: a question\none two\n");
    expect(await late.ended).toBe(0);
    expect(
      late.stdout
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { type: string }).type),
    ).toEqual(["token", "final"]);
    expect(await asking.ended).toBe(0);
  });

  it("cancel stops the run that goes on, and says where none does", async () => {
    const edge = await edgeWith(async (it) => {
      await it.until("cancelled");
      it.stop(StopReason.USER_CANCELLED, { message: "The run was cancelled." });
    });
    const none = runHlvm(["session", "cancel", edge.sessionId, "--json"], { edgeUrl: edge.url });
    expect(await none.ended).toBe(0);
    expect(JSON.parse(none.stdout)).toEqual({ type: "cancel", session_id: edge.sessionId, cancelled: false });
    const asking = runHlvm(["ask", "a question"], { edgeUrl: edge.url });
    await edge.until("watched");
    const cancel = runHlvm(["session", "cancel", edge.sessionId], { edgeUrl: edge.url });
    expect(await cancel.ended).toBe(0);
    expect(cancel.stderr).toBe("The run was cancelled.\n");
    expect(await asking.ended).not.toBe(0);
  });

  it("watch and show print what is there and end where nothing runs", async () => {
    const edge = await edgeWith(async () => {});
    edge.append({ case: "userMessage", value: { text: "a question" } });
    edge.append({ case: "assistantMessage", value: { text: "an answer" } });
    edge.stop(StopReason.COMPLETED, { text: "an answer" });
    const watch = runHlvm(["session", "watch", edge.sessionId], { edgeUrl: edge.url });
    const show = runHlvm(["session", "show", edge.sessionId], { edgeUrl: edge.url });
    expect(await watch.ended).toBe(0);
    expect(watch.stdout).toBe("user:test: a question\nan answer\n");
    expect(await show.ended).toBe(0);
    expect(show.stdout).toContain(`session ${edge.sessionId}\n`);
    expect(show.stdout).toContain("user:test: a question\nan answer\n");
  });

  it("context shows every fragment with where it comes from, and what was left out", async () => {
    const edge = await edgeWith(async () => {});
    const at = timestampFromDate(new Date(Date.now() - 3 * 3_600_000));
    Object.assign(edge.context, {
      model: "a/b",
      contextWindow: 16_384,
      outputReserve: 4_096,
      compactionThreshold: 9_216,
      tokens: 1_234,
      fragments: [
        {
          source: "user:ada",
          trust: Trust.USER_CLAIMED,
          kind: ContextKind.INSTRUCTION,
          sequence: 1n,
          at,
          tokens: 9,
          preview: "why\u001b[2J?",
        },
        { source: "web_fetch", trust: Trust.EXTERNAL, kind: ContextKind.EVIDENCE, sequence: 70n, at, tokens: 900, preview: "<html>" },
      ],
      dropped: [{ source: "12 turns with 14 results", fromSequence: 3n, toSequence: 60n, why: "the context was too full" }],
      trustFloor: { trust: Trust.EXTERNAL, source: "web_fetch in turn 3" },
    });
    const text = runHlvm(["session", "context", edge.sessionId], { edgeUrl: edge.url });
    expect(await text.ended).toBe(0);
    expect(text.stdout).toMatch(
      /^a\/b · 1234 tokens of 16384, 4096 of them kept for the answer · compacted from 9216\nexternal content is in it: web_fetch in turn 3/,
    );
    expect(text.stdout).toMatch(/^1 +user:ada +user-claimed +instruction +3 h +9 +why/m);
    expect(text.stdout).toMatch(/^70 +web_fetch +external +evidence +3 h +900 +<html>/m);
    expect(text.stdout).toMatch(/^3-60 +12 turns with 14 results +the context was too full/m);
    expect(text.stdout).not.toContain("\u001b");
    const json = runHlvm(["session", "context", edge.sessionId, "--json"], { edgeUrl: edge.url });
    expect(await json.ended).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      model: "a/b",
      tokens: 1_234,
      fragments: [{ source: "user:ada" }, { source: "web_fetch" }],
    });
  });

  it("lists what runs in the background, and stops it", async () => {
    const edge = await edgeWith(async () => {});
    const none = runHlvm(["session", "processes", edge.sessionId], { edgeUrl: edge.url });
    expect(await none.ended).toBe(0);
    expect(none.stderr).toContain("Nothing runs in the background");
    edge.processes.push({ processId: 1, command: "npm run\nwatch \u001b[2J", startedAt: timestampFromDate(new Date()) });
    const list = runHlvm(["session", "processes", edge.sessionId], { edgeUrl: edge.url });
    expect(await list.ended).toBe(0);
    expect(list.stdout).toMatch(/^PROCESS +STARTED +STATE +COMMAND\n1 .* running +npm run watch/);
    expect(list.stdout).not.toContain("\u001b");
    const stop = runHlvm(["session", "processes", edge.sessionId, "--stop", "1", "--json"], { edgeUrl: edge.url });
    expect(await stop.ended).toBe(0);
    expect(JSON.parse(stop.stdout)).toMatchObject({ process_id: 1, end: "it was stopped" });
  });

  it("shows what waits for an approval, and nothing of its arguments hides behind blanks", async () => {
    const edge = await edgeWith(async () => {});
    const argumentsJson = JSON.stringify({ command: `touch pwned;${" ".repeat(3_000)}echo \u202efine\u200b` });
    edge.append({ case: "toolSelected", value: { callId: "c1", tool: "shell_exec", argumentsJson } });
    const approval = { approvalId: "1f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e" };
    edge.append({ case: "permissionCheck", value: { callId: "c1", tool: "shell_exec", decision: Decision.ASK, approval } });
    edge.append({ case: "permissionCheck", value: { callId: "c1", tool: "shell_exec", decision: Decision.DENY, reason: "no" } });
    const show = runHlvm(["session", "show", edge.sessionId], { edgeUrl: edge.url });
    expect(await show.ended).toBe(0);
    const notes = show.stdout + show.stderr;
    expect(notes).toContain("shell_exec waits for an approval: hlvm approval show 1f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e");
    expect(notes).toContain('{"command":"touch pwned;␠ × 3000echo <U+202E>fine<U+200B>"}');
  });

  it.each(["show", "watch"])("%s ends with 141 and in silence when the reader leaves", async (command) => {
    const edge = await edgeWith(async () => {});
    for (let index = 0; index < 2_000; index++) edge.append({ case: "assistantMessage", value: { text: "a long answer ".repeat(20) } });
    const hlvm = runHlvm(["session", command, edge.sessionId], { edgeUrl: edge.url });
    await hlvm.shows("a long answer");
    hlvm.child.stdout!.destroy();
    expect(await hlvm.ended).toBe(141);
    expect(hlvm.stderr).toBe("");
  });

  it.each(["show", "watch"])("%s ends with 130 and in silence on Ctrl-C", async (command) => {
    const edge = await edgeWith(async () => {});
    for (const text of ["one", "two"]) edge.append({ case: "assistantMessage", value: { text } });
    edge.stallsAfter = 1;
    const hlvm = runHlvm(["session", command, edge.sessionId], { edgeUrl: edge.url });
    await hlvm.shows("one");
    hlvm.child.kill("SIGINT");
    expect(await hlvm.ended).toBe(130);
    expect(hlvm.stderr).toBe("");
    expect(hlvm.stdout).not.toContain("two");
  });

  it("list gives a row or a line of JSON a session", async () => {
    const edge = await edgeWith(async () => {});
    const rows = runHlvm(["session", "list"], { edgeUrl: edge.url });
    const lines = runHlvm(["session", "list", "--json"], { edgeUrl: edge.url });
    expect(await rows.ended).toBe(0);
    expect(rows.stdout).toMatch(new RegExp(`^SESSION .*\n${edge.sessionId} .* completed .* a title\n$`));
    expect(await lines.ended).toBe(0);
    expect(JSON.parse(lines.stdout)).toMatchObject({ session_id: edge.sessionId, last_stop_reason: "completed", last_sequence: 0 });
  });
});

describe("hlvm session list", () => {
  it.each([
    [[], 50],
    [["--limit", "1100"], 1_100],
    [["--all"], 1_234],
  ])("of 1,234 with %j gives %i, page by page", async (flags, expected) => {
    const edge = await edgeWith(async () => {});
    edge.sessionCount = 1_234;
    const rows = runHlvm(["session", "list", ...flags], { edgeUrl: edge.url });
    const lines = runHlvm(["session", "list", "--json", ...flags], { edgeUrl: edge.url });
    expect(await rows.ended).toBe(0);
    expect(rows.stdout.trimEnd().split("\n")).toHaveLength(1 + expected);
    expect(rows.stderr.includes("--all")).toBe(expected < 1_234);
    expect(await lines.ended).toBe(0);
    expect(lines.stdout.trimEnd().split("\n")).toHaveLength(expected);
    expect(lines.stderr).toBe("");
  });

  it("ends with 141 and in silence when the reader leaves", async () => {
    const edge = await edgeWith(async () => {});
    edge.sessionCount = 1_000_000;
    const hlvm = runHlvm(["session", "list", "--all", "--json"], { edgeUrl: edge.url });
    await hlvm.shows(edge.sessionId);
    hlvm.child.stdout!.destroy();
    expect(await hlvm.ended).toBe(141);
    expect(hlvm.stderr).toBe("");
  });
});

describe("hlvm", () => {
  it("prints its help and version, and refuses to go without a command", async () => {
    const help = runHlvm(["--help"]);
    const version = runHlvm(["--version"]);
    const nothing = runHlvm([]);
    expect(await help.ended).toBe(0);
    expect(help.stdout).toContain("hlvm ask");
    expect(await version.ended).toBe(0);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await nothing.ended).toBe(2);
  });
});

describe("hlvm keys rotate", () => {
  it("says that the keys of a mesh elsewhere are rotated there", async () => {
    const edge = await edgeWith(async () => {});
    const rotate = runHlvm(["keys", "rotate", "--json"], { edgeUrl: edge.url });
    expect(await rotate.ended).toBe(1);
    expect(rotate.stdout).toBe("");
    expect(rotate.stderr).toContain("HLVM_EDGE_URL names a mesh elsewhere");
  });
});
