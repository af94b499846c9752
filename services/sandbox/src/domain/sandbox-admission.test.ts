import { HlvmError } from "@hlvm/errors/hlvm-error";
import { describe, expect, it } from "vitest";
import { SandboxAdmission, type AdmittedSandbox } from "./sandbox-admission.ts";

const signal = new AbortController().signal;
const WAIT_MILLISECONDS = 60_000;

function sandbox(): AdmittedSandbox {
  return { isInUse: false, lastUse: 0, stop: async () => undefined };
}

function call(person: string, more: { sandbox?: AdmittedSandbox; signal?: AbortSignal; waitMilliseconds?: number } = {}) {
  return { sandbox: sandbox(), person, signal, waitMilliseconds: WAIT_MILLISECONDS, onWaiting: () => undefined, ...more };
}

describe("SandboxAdmission", () => {
  it("refuses what does not fit into its queue, and says so", async () => {
    const admission = new SandboxAdmission(1, 1);
    const release = await admission.acquire(call("a"));
    const waiting = admission.acquire(call("a"));
    const refused = admission.acquire(call("b"));
    await expect(refused).rejects.toMatchObject({ code: "resource_exhausted", reason: "too_many_sandboxes" });
    await expect(refused).rejects.toThrow("All 1 sandboxes of this machine are at work, and 1 calls wait for one");
    release();
    (await waiting)();
  });

  it("waits no longer than a call may", async () => {
    const admission = new SandboxAdmission(1);
    await admission.acquire(call("a"));
    await expect(admission.acquire(call("b", { waitMilliseconds: 10 }))).rejects.toThrow(
      "as long as this call could wait. It did not run.",
    );
  });

  it("gives no place to a call that is cancelled in the moment in which one gets free", async () => {
    const admission = new SandboxAdmission(1);
    const release = await admission.acquire(call("a"));
    const controller = new AbortController();
    const cancelled = admission.acquire(call("b", { signal: controller.signal }));
    const next = admission.acquire(call("b"));
    controller.abort(new Error("cancelled"));
    release();
    await expect(cancelled).rejects.toThrow("cancelled");
    (await next)();
  });

  it("lets all calls of a session in with its first one, and stops its sandbox only when the last has ended", async () => {
    const admission = new SandboxAdmission(1);
    const release = await admission.acquire(call("a"));
    let isStopped = false;
    const shared: AdmittedSandbox = { ...sandbox(), stop: async () => void (isStopped = true) };
    const both = [admission.acquire(call("b", { sandbox: shared })), admission.acquire(call("b", { sandbox: shared }))];
    release();
    const [one, other] = await Promise.all(both);
    const last = admission.acquire(call("c"));
    one!();
    expect(isStopped).toBe(false);
    other!();
    (await last)();
    expect(isStopped).toBe(true);
  });

  it("gives no idle session a place that a call waits for", async () => {
    const admission = new SandboxAdmission(1);
    const release = await admission.acquire(call("a"));
    const closed = sandbox();
    const waiting = admission.acquire(call("b", { sandbox: closed }));
    expect(admission.admitIdle(sandbox())).toBe(false);
    admission.forget(closed, new HlvmError({ code: "not_found", reason: "session_not_found", message: "closed" }));
    await expect(waiting).rejects.toThrow("closed");
    release();
    expect(admission.admitIdle(sandbox())).toBe(true);
  });
});
