import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { returnPath } from "./return-path.ts";

const OURS = new URL("https://hlvm.example.com");
const BEGINNINGS = [
  "",
  "/",
  "//",
  "///",
  "\\",
  "/\\",
  "\\/",
  "/\t/",
  "/\n/",
  "/%2f",
  "/.//",
  "/..//",
  " /",
  " //",
  "http:",
  "https:",
  "javascript:",
  "data:",
  "/@",
];
const ENDS = [
  "evil.example",
  "evil.example/path",
  "@evil.example",
  "evil.example:443",
  "\\evil.example",
  "//evil.example",
  "?to=//evil",
  "#//evil",
  "%09//evil.example",
  "alert(1)",
  "/",
];

describe("where a browser goes after a login", () => {
  it.each(["/", "/s/0b8f?at=812", "/audit?tool=x&since=7d#top", "/people"])("is the path of ours that was asked for: %s", (path) => {
    expect(returnPath(path, OURS)).toBe(path);
  });

  it.each([
    null,
    undefined,
    "",
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "/auth/login",
    "/auth/../auth/logout",
    `/${"x".repeat(2_001)}`,
  ])("is the first page where that is none of ours: %s", (path) => {
    expect(returnPath(path, OURS)).toBe("/");
  });

  it("is never elsewhere, as a browser reads it, for 200 known ways and whatever else", () => {
    const staysHere = (wanted: string): void => {
      const { origin, pathname } = new URL(returnPath(wanted, OURS), OURS);
      expect([wanted, origin, pathname.startsWith("/auth/")]).toEqual([wanted, OURS.origin, false]);
    };
    const known = BEGINNINGS.flatMap((beginning) => ENDS.map((end) => beginning + end));
    expect(known.length).toBeGreaterThan(200);
    for (const wanted of known) staysHere(wanted);
    const part = fc.constantFrom(...BEGINNINGS, ...ENDS, "/", "\\", ".", "..", "%00", "\r", "\u00a0", "auth");
    fc.assert(fc.property(fc.array(part, { maxLength: 6 }), (parts) => staysHere(parts.join(""))));
    fc.assert(fc.property(fc.string({ unit: "binary" }), staysHere));
  });
});
