import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { cleanEnvironment } from "./test-mesh.ts";

const path = (from: string): string => fileURLToPath(new URL(from, import.meta.url));
const REPORT = path("../../libs/testing/src/report-modules.ts");
const GATEWAY = path("../../services/model-gateway/src/main.ts");
const CLI = path("../../services/cli/src/main.ts");
const EXPORTING = /^@opentelemetry\/(sdk|exporter|otlp|resources)/;

/** The packages that a program has loaded when it ends; a service is told to end once it is up. */
async function loadedBy(main: string, programArguments: readonly string[], environment: Record<string, string>): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), "hlvm-loaded-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "modules");
  const keys = join(directory, "keys.json");
  writeFileSync(keys, '{"keys":[]}');
  const child = fork(main, [...programArguments], {
    execArgv: ["--import", REPORT],
    env: { ...cleanEnvironment(directory, environment), MODULES_FILE: file, HLVM_TOKEN_PUBLIC_KEYS: keys },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.on("message", ({ kind }: { kind: string }) => {
    expect(kind).toBe("ready");
    child.kill("SIGTERM");
  });
  await once(child, "exit");
  return readFileSync(file, "utf8").split("\n");
}

describe("what is loaded for telemetry", () => {
  it("is nothing that exports, in a service without an endpoint", async () => {
    const loaded = await loadedBy(GATEWAY, [], {});
    expect(loaded).toContain("@connectrpc/connect-node");
    expect(loaded.filter((name) => EXPORTING.test(name))).toEqual([]);
  });

  it("is the SDK with the exporter over gRPC alone, in a service with one", async () => {
    const loaded = await loadedBy(GATEWAY, [], { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" });
    expect(loaded).toContain("@opentelemetry/sdk-trace");
    expect(loaded).toContain("@opentelemetry/exporter-trace-otlp-grpc");
    expect(loaded).not.toContain("@opentelemetry/exporter-trace-otlp-proto");
  });

  it("is nothing at all in the CLI without an endpoint, and the SDK with one", async () => {
    const edge = { HLVM_EDGE_URL: "http://127.0.0.1:1", HLVM_TOKEN: "x" };
    const loaded = await loadedBy(CLI, ["session", "list"], edge);
    expect(loaded).toContain("@connectrpc/connect-node");
    expect(loaded.filter((name) => name.startsWith("@opentelemetry/"))).toEqual([]);
    const traced = await loadedBy(CLI, ["session", "list"], { ...edge, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" });
    expect(traced).toContain("@opentelemetry/sdk-trace");
  });
});
