import { describe, expect, it } from "vitest";
import { serviceUrl } from "./service-url.ts";

const { parse } = serviceUrl({ variable: "HLVM_POLICY_URL", description: "Where policy listens." });

describe("the URL of a service", () => {
  it.each([
    "http://127.0.0.1:4711",
    "https://policy.example:443/",
    "http://[::1]:4711",
    "dns:///policy.hlvm.svc.cluster.local:8080",
    "ipv4:127.0.0.1:4711",
    "ipv4:127.0.0.1:4711,127.0.0.2:4712",
    "ipv6:[::1]:4711,[fd00::2]:4711",
  ])("may be %s", (value) => expect(parse(value)).toBe(value));

  it.each([
    "127.0.0.1:4711",
    "http://",
    "http://policy:80/path",
    "dns:policy:80",
    "dns:///policy",
    "ipv4:policy:4711",
    "ipv4:127.0.0.1",
    "ipv4:127.0.0.1:4711,",
    "ipv6:::1:4711",
    "unix:/run/policy.sock",
  ])("is not %j, and what it may be is told", (value) =>
    expect(() => parse(value)).toThrow(`must be http://host:port, dns:///host:port or ipv4:address:port,address:port, not "${value}"`),
  );
});
