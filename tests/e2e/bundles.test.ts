import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundledMain, bundleRecordFile, type BundleRecord } from "@hlvm/bundle/bundled-main";
import { cleanEnvironment, repositoryRoot, startTestMesh } from "./test-mesh.ts";

const REPORT = fileURLToPath(new URL("../../libs/testing/src/report-modules.ts", import.meta.url));
const mainOf = (program: string): string => join(repositoryRoot, "services", program, "src", "main.ts");

/** The modules of ours that a program loads from its sources until it finds that it has no settings, relative to the checkout. */
function loadedBy(program: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-loaded-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "modules");
  spawnSync(process.execPath, ["--import", REPORT, mainOf(program)], { env: { ...cleanEnvironment(folder), MODULES_FILE: file } });
  const root = pathToFileURL(repositoryRoot).href;
  const modules = readFileSync(file, "utf8").split("\n");
  return modules.filter((url) => url.startsWith(root)).map((url) => url.slice(root.length));
}

beforeAll(() => {
  spawnSync("npm", ["start", "--silent", "--", "--version"], { cwd: repositoryRoot });
});

describe("bundles", () => {
  it("are what a mesh runs: the supervisor, and each of its services", async () => {
    const mesh = await startTestMesh();
    onTestFinished(() => mesh.stop());
    const { services, supervisorPid } = mesh.state;
    const ours = services.filter(({ name }) => name !== "PostgreSQL" && name !== "Meilisearch");
    expect(ours.length).toBeGreaterThan(5);
    for (const { name, pid } of [...ours, { name: "supervisor", pid: supervisorPid }]) {
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      expect(commandLine).toContain(bundledMain(mainOf(name)));
      expect(commandLine).not.toContain(mainOf(name));
    }
  });

  it.each(["cli", "edge", "memory", "model-gateway", "orchestrator", "policy", "sandbox"])(
    "of %s is not used any more once a module changes that the program loads",
    (program) => {
      const { sources } = JSON.parse(readFileSync(bundleRecordFile(mainOf(program)), "utf8")) as BundleRecord;
      const loaded = loadedBy(program);
      expect(loaded).toContain(`services/${program}/src/main.ts`);
      expect(loaded).toContain("libs/errors/src/hlvm-error.ts");
      const testing = "libs/testing/src/report-modules.ts";
      expect(loaded.filter((path) => path !== testing && sources[path] === undefined)).toEqual([]);
    },
  );
});
