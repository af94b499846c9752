import { describe, expect, it } from "vitest";
import { readEdgeConfig } from "./config.ts";

const REQUIRED = {
  HLVM_TOKEN_SIGNING_KEY: "/key",
  HLVM_LOCAL_TOKEN_FILE: "/token",
  HLVM_ORCHESTRATOR_URL: "http://127.0.0.1:1",
  HLVM_MODEL_GATEWAY_URL: "http://127.0.0.1:2",
  HLVM_SANDBOX_URL: "http://127.0.0.1:3",
  HLVM_POLICY_URL: "http://127.0.0.1:4",
  HLVM_MEMORY_URL: "http://127.0.0.1:5",
};

describe("the edge's settings", () => {
  it("listen on loopback port 11435 unless told otherwise", () => {
    expect(readEdgeConfig(REQUIRED)).toMatchObject({ host: "127.0.0.1", port: 11_435 });
  });

  it.each(["0.0.0.0", "::", "192.168.1.2", "localhost.example", "127.0.0.1.example", "1270.0.0.1"])("refuse to listen on %s", (host) => {
    expect(() => readEdgeConfig({ ...REQUIRED, HLVM_HOST: host })).toThrow(/HLVM_HOST must be a loopback address/);
  });
});
