import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactText, redactValue } from "./redact.ts";

const PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----";

describe("redactText", () => {
  it("replaces what providers document as their keys", () => {
    const keys = [
      "AKIAIOSFODNN7EXAMPLE",
      `ghp_${"x".repeat(36)}`,
      `github_pat_${"a".repeat(40)}`,
      `sk-ant-api03-${"b".repeat(40)}`,
      `sk-proj-${"c".repeat(40)}`,
    ]
      .concat(["xoxb-1234567890-abcdef", `sk_live_${"d".repeat(24)}`, `AIza${"e".repeat(35)}`, `npm_${"f".repeat(36)}`, PEM])
      .concat(`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0xxx.${"g".repeat(20)}`);
    for (const key of keys) expect(redactText(`x "${key}" y`)).toBe('x "[secret]" y');
  });

  it("replaces values that are named as secrets, and keeps their names", () => {
    expect(redactText("PASSWORD=hunter2 ls")).toBe("PASSWORD=[secret] ls");
    expect(redactText('{"api_key": "abcd1234"}')).toBe('{"api_key": "[secret]"}');
    expect(redactText("Authorization: Bearer abcd.efgh-1234")).toBe("Authorization: Bearer [secret]");
    expect(redactText("psql postgres://me:s3cret@db/x")).toBe("psql postgres://me:[secret]@db/x");
  });

  it("leaves ordinary text alone", () => {
    for (const text of ["git log --oneline", "https://example.com:8080/x", "the token bucket", "src/password.ts", "a@b.c", "tokenize(x)"])
      expect(redactText(text)).toBe(text);
  });

  it("takes no longer for text that almost fits", () => {
    const start = performance.now();
    for (const text of [
      "eyJ".repeat(100_000),
      "-----BEGIN PRIVATE KEY-----".repeat(20_000),
      "a://".repeat(100_000),
      "password ".repeat(50_000),
    ])
      redactText(text);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it("keeps the form of any value, and no secret in it", () => {
    const secret = `ghp_${"x".repeat(36)}`;
    const property = fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(redactValue({ value: value as never, [secret]: [`a ${secret}`], password: "p" }));
      return !text.includes(secret) && text.includes('"password":"[secret]"');
    });
    expect(() => fc.assert(property)).not.toThrow();
  });
});
