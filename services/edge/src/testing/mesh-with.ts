import type { ConnectRouter } from "@connectrpc/connect";
import { onTestFinished } from "vitest";
import { startTestMesh, type TestMesh } from "./test-mesh.ts";

/** A mesh with these services, until the test is over. */
export async function meshWith(routes: (router: ConnectRouter) => void): Promise<TestMesh> {
  const mesh = await startTestMesh(routes);
  onTestFinished(() => mesh.close());
  return mesh;
}
