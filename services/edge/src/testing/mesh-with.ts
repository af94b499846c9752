import type { ConnectRouter } from "@connectrpc/connect";
import { onTestFinished } from "vitest";
import { startTestMesh, type TestMesh } from "./test-mesh.ts";

/** A mesh with these services, and with a page where a folder is given, until the test is over. */
export async function meshWith(routes: (router: ConnectRouter) => void, webDirectory?: string): Promise<TestMesh> {
  const mesh = await startTestMesh(routes, webDirectory);
  onTestFinished(() => mesh.close());
  return mesh;
}
