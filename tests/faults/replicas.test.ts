import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readMeshState, type ServiceState } from "@hlvm/mesh/mesh-state";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";

const QUESTIONS = 4;
const REPLICATED = ["policy", "memory", "model-gateway", "sandbox", "orchestrator"];
const script = {
  conversations: [
    { match: "slow", turns: [{ toolCalls: [{ tool: "shell_exec", arguments: { command: "echo begun; sleep 3" } }] }, { text: "Slowly." }] },
    { match: "quick", turns: [{ toolCalls: [{ tool: "shell_exec", arguments: { command: "echo hello" } }] }, { text: "Here." }] },
  ],
};

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  workspace = await createWorkspace({ "script.json": JSON.stringify(script) });
  mesh = await startTestMesh({
    HLVM_REPLICAS: "2",
    HLVM_LOG_LEVEL: "debug",
    HLVM_SCRIPT_FILE: join(workspace, "script.json"),
    HLVM_MODEL: "scripted/script",
  });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const servicesNow = (): readonly ServiceState[] => readMeshState(mesh.directory)!.services;
const serviceNow = (name: string): ServiceState => servicesNow().find((service) => service.name === name)!;

/** How many calls of a method of this service are in the log of a replica. */
function callsIn(name: string, method: string): number {
  const lines = readFileSync(join(mesh.directory, "logs", `${name}.log`), "utf8").split("\n");
  return lines.filter((line) => line.includes('"msg":"call"') && line.includes(method)).length;
}

async function ask(): Promise<void> {
  const ended = await mesh.hlvm(["ask", "--json", "quick"], { cwd: workspace });
  const lines = linesOf(ended);
  expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed", text: expect.stringMatching(/^Here\./) });
  expect(eventsOf(lines, "tool_end")).toMatchObject([{ success: true }]);
}

it("runs two of each service that can have several, and one of the others", async () => {
  const names = servicesNow().map(({ name }) => name);
  const twice = REPLICATED.flatMap((name) => [`${name}-1`, `${name}-2`]);
  expect(names.toSorted()).toEqual(["Meilisearch", "PostgreSQL", "edge", ...twice].toSorted());
  expect(new Set(servicesNow().map(({ pid }) => pid)).size).toBe(names.length);
  const status = await mesh.hlvm(["status"]);
  for (const name of twice) expect(status.stdout).toMatch(new RegExp(`${name} +up`));
  // Each of them would take the whole machine for its own.
  expect((await mesh.hlvm(["doctor"])).stdout).toContain("which 2 replicas share");
});

it("answers questions with the calls spread over both policies and both gateways", async () => {
  for (let index = 0; index < QUESTIONS; index++) await ask();
  for (const name of ["policy-1", "policy-2"]) expect(callsIn(name, "hlvm.run.v1.RunPolicyService")).toBeGreaterThan(0);
  for (const name of ["model-gateway-1", "model-gateway-2"]) expect(callsIn(name, "hlvm.model.v1.ModelService")).toBeGreaterThan(0);
});

it.each([
  ["a policy and a gateway", ["policy-1", "model-gateway-2"]],
  ["an orchestrator and a memory", ["orchestrator-1", "memory-2"]],
  ["the other orchestrator and a sandbox", ["orchestrator-2", "sandbox-1"]],
])("answers the question that is under way and those that follow where %s are killed", async (_, names) => {
  const killed = names.map(serviceNow);
  const isSlow = Promise.withResolvers<void>();
  const slow = mesh.hlvm(["ask", "--json", "slow"], {
    cwd: workspace,
    onLine: (line) => {
      if (line.includes("tool_start")) isSlow.resolve();
    },
  });
  await isSlow.promise;
  for (const { pid } of killed) process.kill(pid!, "SIGKILL");
  for (let index = 0; index < QUESTIONS; index++) await ask();
  expect(linesOf(await slow).at(-1)).toMatchObject({ type: "final", stop_reason: "completed", text: expect.stringMatching(/^Slowly\./) });
  for (const { name, pid } of killed) {
    await expect.poll(() => serviceNow(name).state, { timeout: 20_000 }).toBe("up");
    expect(serviceNow(name).pid).not.toBe(pid);
  }
  await ask();
});
