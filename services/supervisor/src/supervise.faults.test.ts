import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readMeshState, type ServiceState } from "@hlvm/mesh/mesh-state";
import { serviceHealth } from "./adapters/service-health.ts";
import { isRunning } from "./testing/process-ended.ts";
import { pidsOf, useSupervisor } from "./testing/use-supervisor.ts";

const supervisor = useSupervisor();
const policyNow = (): ServiceState => readMeshState(supervisor.directory)!.services[0]!;

describe("a service that does not answer", () => {
  it("says that a service which was stopped does not answer, and restarts it where it listened", async () => {
    const before = (await supervisor.start("foreground")).services[0]!;
    process.kill(before.pid!, "SIGSTOP");
    await expect.poll(policyNow).toMatchObject({ state: "not_answering", pid: before.pid });
    await expect.poll(() => policyNow().pid, { timeout: 10_000 }).not.toBe(before.pid);
    await expect.poll(policyNow).toMatchObject({ state: "up", port: before.port });
    expect(isRunning(before.pid!)).toBe(false);
    await expect.poll(supervisor.log).toContain("does not answer and is restarted");
  });

  it("kills a service that hangs and does not end when it is told to", async () => {
    process.env.FAKE_BEHAVIOUR = "hangs";
    const before = (await supervisor.start("foreground")).services[1]!;
    process.kill(before.pid!, "SIGUSR2");
    const edgeNow = (): ServiceState => readMeshState(supervisor.directory)!.services[1]!;
    await expect.poll(() => edgeNow().reason, { timeout: 20_000 }).toMatch(/^it had not answered since .* and was ended \(SIGKILL\)$/);
    await expect.poll(edgeNow).toMatchObject({ state: "up" });
    expect(isRunning(before.pid!)).toBe(false);
  });

  it("lets a service be that is only busy", async () => {
    const before = (await supervisor.start("foreground")).services[0]!;
    const isBusyOnceMore = async (): Promise<string> => {
      process.kill(before.pid!, "SIGUSR2");
      // As long as the fake service is busy.
      await sleep(2_500);
      return supervisor.log();
    };
    await expect.poll(isBusyOnceMore, { timeout: 15_000 }).toContain("answers again");
    expect(policyNow()).toMatchObject({ state: "up", pid: before.pid });
  });

  it("restarts nobody when the whole machine stood still", async () => {
    const state = await supervisor.start("foreground");
    await expect.poll(supervisor.log).toContain("the mesh is up");
    for (const pid of pidsOf(state)) process.kill(pid, "SIGSTOP");
    // Longer than a service may be silent; then as long as a restart would take to show.
    await sleep(4_000);
    // On a busy machine a service takes a while to go on, and would rightly be said not to answer.
    for (const { pid, port } of state.services) {
      process.kill(pid!, "SIGCONT");
      await serviceHealth(`http://127.0.0.1:${port}`, undefined)(10_000);
    }
    process.kill(state.supervisorPid, "SIGCONT");
    await sleep(2_000);
    expect(readMeshState(supervisor.directory)!.services.map(({ pid }) => pid)).toEqual(state.services.map(({ pid }) => pid));
    expect(supervisor.log()).not.toContain("does not answer");
  });
});
