import { afterAll, beforeAll, expect, it } from "vitest";
import { readMeshState, type ServiceState } from "@hlvm/mesh/mesh-state";
import { linesOf, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";

const HUNG = ["PostgreSQL", "memory", "edge", "Meilisearch"];

let mesh: TestMesh;

beforeAll(async () => {
  mesh = await startTestMesh();
});
afterAll(() => mesh.stop());

const hung = (services: readonly ServiceState[]): ServiceState[] => services.filter(({ name }) => HUNG.includes(name));
const hungNow = (): ServiceState[] => hung(readMeshState(mesh.directory)!.services);

it("status and doctor say that parts which hang do not answer; they are restarted, and only they, and answer again", async () => {
  const before = mesh.state.services;
  for (const { pid } of hung(before)) process.kill(pid!, "SIGSTOP");
  await expect.poll(() => hungNow().map(({ state }) => state), { timeout: 20_000 }).toEqual(HUNG.map(() => "not_answering"));
  const status = await mesh.hlvm(["status"]);
  expect(status.code).toBe(1);
  for (const name of HUNG) expect(status.stdout).toMatch(new RegExp(`^${name} +not answering `, "m"));

  const isRestarted = (): boolean => hungNow().every(({ pid, state }, at) => state === "up" && pid !== hung(before)[at]!.pid);
  await expect.poll(isRestarted, { timeout: 60_000 }).toBe(true);
  expect((await mesh.hlvm(["status"])).code).toBe(0);
  const others = (services: readonly ServiceState[]) => services.filter(({ name }) => !HUNG.includes(name)).map(({ pid }) => pid);
  expect(others(readMeshState(mesh.directory)!.services)).toEqual(others(before));
  const written = await mesh.hlvm(["memory", "write", "--scope", "personal", "The lighthouse keeper is called Ida"]);
  expect(written).toMatchObject({ code: 0, stderr: "" });
  const found = await mesh.hlvm(["memory", "search", "lighthouse"]);
  expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining("Ida") });
  const checks = linesOf(await mesh.hlvm(["doctor", "--json"]));
  expect(checks.filter(({ result }) => result === "fail")).toEqual([]);
}, 120_000);
