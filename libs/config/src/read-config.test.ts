import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { choice, integer, list, text } from "./setting.ts";
import { readConfig } from "./read-config.ts";
import { serviceSettings } from "./service-settings.ts";

const settings = {
  name: text({ variable: "NAME", description: "what it is called" }),
  turns: integer({ variable: "TURNS", description: "how often", fallback: 20, minimum: 1, maximum: 100 }),
  color: choice({ variable: "COLOR", description: "how it looks", fallback: "red", choices: ["red", "green"] }),
  urls: list({ variable: "URLS", description: "where", fallback: [] }),
};

function problemsOf(environment: Readonly<Record<string, string>>): HlvmError {
  try {
    readConfig(settings, environment);
  } catch (thrown) {
    if (thrown instanceof HlvmError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was wrong");
}

describe("readConfig", () => {
  it("reads each kind of value", () => {
    const environment = { NAME: " Ada ", TURNS: "7", COLOR: "green", URLS: " http://a , ,http://b", OTHER: "x" };
    expect(readConfig(settings, environment)).toEqual({ name: " Ada ", turns: 7, color: "green", urls: ["http://a", "http://b"] });
  });

  it("takes the fallback for what is not set or set to nothing", () => {
    const fallbacks = { turns: 20, color: "red", urls: [] };
    expect(readConfig(settings, { NAME: "x" })).toEqual({ name: "x", ...fallbacks });
    expect(readConfig(settings, { NAME: "x", TURNS: "", COLOR: "", URLS: "" })).toEqual({ name: "x", ...fallbacks });
  });

  it("names all that is wrong at once, with what is wanted", () => {
    expect(problemsOf({ TURNS: "many", COLOR: "blue" })).toMatchObject({
      code: "invalid_argument",
      reason: "invalid_configuration",
      message:
        'NAME is not set: what it is called; TURNS must be a whole number from 1 to 100, not "many"; COLOR must be one of red, green, not "blue"',
    });
  });

  it.each(["0", "101", "7.5", "1e1", " 7", "0x7", "-1", "9".repeat(30)])("takes no %j for a whole number from 1 to 100", (value) => {
    expect(problemsOf({ NAME: "x", TURNS: value }).message).toContain(`not "${value}"`);
  });

  it.each(["1", "100", "007"])("takes %j for one", (value) => {
    expect(readConfig(settings, { NAME: "x", TURNS: value }).turns).toBe(Number(value));
  });

  it("lets a service listen on loopback alone, on any free port, unless it is told otherwise", () => {
    const keys = { HLVM_TOKEN_PUBLIC_KEYS: "/keys" };
    expect(readConfig(serviceSettings, keys)).toEqual({ host: "127.0.0.1", port: 0, connectionAgeSeconds: 180, tokenPublicKeys: "/keys" });
    expect(readConfig(serviceSettings, { ...keys, HLVM_HOST: "::1", HLVM_PORT: "65535" })).toMatchObject({ host: "::1", port: 65_535 });
    expect(() => readConfig(serviceSettings, { HLVM_PORT: "65536" })).toThrow(/HLVM_PORT .*; HLVM_TOKEN_PUBLIC_KEYS is not set/);
  });
});
