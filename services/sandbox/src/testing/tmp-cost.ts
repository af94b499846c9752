import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalFolders } from "../adapters/local-folders.ts";
import { openTestIsolation } from "./open-test-sandbox.ts";
const { isolation } = await openTestIsolation({ memoryMebibytes: 2_048, processes: 512 });
const workspace = realpathSync(mkdtempSync(join(tmpdir(), "hlvm-measure-")));
const folder = await new LocalFolders([]).inspect(workspace);
const N = 200;
const one = async () => {
  const s = await isolation.startCommand({ sessionId: "m", workspace: folder }, "read");
  await s.run({ text: "echo hi", directory: "/workspace" }, { signal: new AbortController().signal, onOutput: () => true });
  await s.close();
};
for (let i = 0; i < 50; i++) await one();
const c0 = process.resourceUsage();
const t0 = performance.now();
for (let i = 0; i < N; i++) await one();
const c1 = process.resourceUsage();
console.log(
  "per sandbox: wall",
  (performance.now() - t0) / N,
  "own user ms",
  (c1.userCPUTime - c0.userCPUTime) / N / 1000,
  "own sys ms",
  (c1.systemCPUTime - c0.systemCPUTime) / N / 1000,
);
process.exit(0);
