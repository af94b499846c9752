import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { edgeWith } from "../testing/edge-with.ts";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm } from "../testing/run-hlvm.ts";

describe("hlvm ask, stopped", () => {
  it("cancels the run on Ctrl-C, waits for its end, and ends with 130", async () => {
    const edge = await edgeWith(async (it) => {
      const cancelled = it.until("cancelled");
      it.append({ case: "messageDelta", value: { text: "working" } });
      await cancelled;
      it.stop(StopReason.USER_CANCELLED);
    });
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    await hlvm.shows("working");
    hlvm.child.kill("SIGINT");
    expect(await hlvm.ended).toBe(130);
    expect(hlvm.stdout).toBe("working\n");
    expect(hlvm.stderr).toBe("cancelled\n");
  });

  it("cancels the run when its terminal is closed while something is being drawn on it, and a line is half-typed", async () => {
    const edge = await edgeWith(async (it) => {
      await it.until("cancelled");
      it.stop(StopReason.USER_CANCELLED);
    });
    const cancelled = edge.until("cancelled");
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
    hlvm.child.stdin!.write("half a li");
    await hlvm.shows("› half a li");
    await hlvm.shows("⠼ thinking");
    hlvm.child.kill("SIGKILL");
    await cancelled;
    expect(await hlvm.ended).toBeNull();
  });

  it("cancels the run where standard output cannot be written, and says so", async () => {
    const edge = await edgeWith(async (it) => {
      const cancelled = it.until("cancelled");
      it.append({ case: "messageDelta", value: { text: "working" } });
      await cancelled;
      it.stop(StopReason.USER_CANCELLED);
    });
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, outputIsFull: true });
    expect(await hlvm.ended).toBe(1);
    expect(hlvm.stderr).toMatch(/^Standard output cannot be written: ENOSPC/);
    expect(hlvm.stderr).not.toContain("    at ");
  });

  it("ends at once on a second Ctrl-C", async () => {
    const edge = await edgeWith(async (it) => it.append({ case: "messageDelta", value: { text: "working" } }));
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    const cancelled = edge.until("cancelled");
    await hlvm.shows("working");
    hlvm.child.kill("SIGINT");
    await cancelled;
    hlvm.child.kill("SIGINT");
    expect(await hlvm.ended).toBe(130);
  });

  it("gives up after two seconds where the run does not end, with a final", async () => {
    const edge = await edgeWith(async (it) => it.append({ case: "messageDelta", value: { text: "working" } }));
    const hlvm = runHlvm(["ask", "--json", "q"], { edgeUrl: edge.url });
    await hlvm.shows("working");
    hlvm.child.kill("SIGINT");
    expect(await hlvm.ended).toBe(130);
    expect(jsonLines(hlvm.stdout).at(-1)).toMatchObject({ type: "final", stop_reason: "user_cancelled" });
  });

  it("cancels the run and is silent when the reader of its output goes away", async () => {
    const edge = await edgeWith(async (it) => {
      const stopped = new AbortController();
      const cancelled = it.until("cancelled").then(() => stopped.abort());
      it.append({ case: "messageDelta", value: { text: "line\n" } });
      await it.until("watched");
      while (!stopped.signal.aborted) {
        it.append({ case: "messageDelta", value: { text: "line\n" } });
        await Promise.race([cancelled, delay(10)]);
      }
      it.stop(StopReason.USER_CANCELLED);
    });
    const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url });
    await hlvm.shows("line");
    hlvm.child.stdout!.destroy();
    expect(await hlvm.ended).toBe(141);
    expect(hlvm.stderr).toBe("");
  });
});
