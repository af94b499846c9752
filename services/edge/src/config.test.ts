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

describe("the edge's settings of team mode", () => {
  const TEAM = {
    ...REQUIRED,
    HLVM_OIDC_ISSUER: "https://id.example.com",
    HLVM_OIDC_CLIENT_ID: "hlvm",
    HLVM_OIDC_CLIENT_SECRET: "secret",
    HLVM_PUBLIC_URL: "https://hlvm.example.com",
  };

  it("are none without an issuer, and let it listen anywhere with one", () => {
    expect(readEdgeConfig(REQUIRED).team).toBeUndefined();
    const { host, team } = readEdgeConfig({ ...TEAM, HLVM_HOST: "0.0.0.0" });
    expect([host, team?.publicUrl.origin, team?.organization]).toEqual(["0.0.0.0", "https://hlvm.example.com", "default"]);
  });

  it.each([
    [{ HLVM_PUBLIC_URL: "http://hlvm.example.com" }, /HLVM_PUBLIC_URL must begin with https/],
    [{ HLVM_PUBLIC_URL: "https://hlvm.example.com/page" }, /HLVM_PUBLIC_URL must be without a path/],
    [{ HLVM_PUBLIC_URL: "" }, /HLVM_PUBLIC_URL has to be a URL/],
    [{ HLVM_OIDC_CLIENT_SECRET: "" }, /HLVM_OIDC_CLIENT_SECRET has to be set/],
    [{ HLVM_ORGANIZATION: "local" }, /HLVM_ORGANIZATION cannot be local/],
  ])("are refused where they are not safe: %j", (wrong, message) => {
    expect(() => readEdgeConfig({ ...TEAM, ...wrong })).toThrow(message);
  });
});
