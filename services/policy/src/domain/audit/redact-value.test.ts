import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import { redactText } from "./redact-text.ts";
import { redactValue } from "./redact-value.ts";

const MAXIMUM = 16_384;
const KEY = `ghp_${"x".repeat(36)}`;

describe("redactText", () => {
  it("replaces secrets, and keeps what names them", () => {
    expect(redactText("PASSWORD=hunter2 ls")).toBe("PASSWORD=[secret: password] ls");
    expect(redactText(`x "${KEY}" y`)).toBe('x "[secret: GitHub token]" y');
    expect(redactText("the root password is swordfish")).toBe("the root password is [secret: password]");
    expect(redactText("Authorization: Bearer abcd.efgh-1234")).toBe("Authorization: Bearer [secret: credentials]");
    expect(redactText("psql postgres://me:s3cret@db/x")).toBe("psql postgres://me:[secret: password]@db/x");
    expect(redactText("git log --oneline; cat src/password.ts")).toBe("git log --oneline; cat src/password.ts");
  });
});

describe("redactValue", () => {
  it("keeps the form of any value, and no secret in it", () => {
    const property = fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(redactValue({ value: value as never, [KEY]: [`a ${KEY}`], password: "p" }));
      return !text.includes(KEY) && text.includes('"password":"[secret: password]"');
    });
    expect(() => fc.assert(property)).not.toThrow();
  });

  it("shows nothing of a secret that stands across the cut", () => {
    const shown = Array.from({ length: KEY.length + 2 }, (_, index) => {
      const text = `${" ".repeat(MAXIMUM - index)}${KEY} and more ${"x ".repeat(20_000)}`;
      return redactValue({ text }) as { text: string };
    });
    expect(shown.filter(({ text }) => /ghp|xx/.test(text))).toEqual([]);
    expect(shown.filter(({ text }) => text.length > MAXIMUM + 50)).toEqual([]);
  });

  it("has a canonical form where the cut falls into the middle of a character", () => {
    for (const before of [MAXIMUM - 2, MAXIMUM - 1, MAXIMUM]) {
      const text = "x".repeat(before) + "😀".repeat(10);
      expect(canonicalJson(redactValue({ text }))).toContain(`(${text.length - MAXIMUM} more characters)`);
    }
  });

  it("takes the same time for a text of any length", { timeout: 120_000 }, () => {
    // Whoever looks at the whole of it looks at 50 GB, and is then ended.
    const texts = Array.from<string>({ length: 500 }).fill("eyJ- is no password ".repeat(5_000_000));
    expect(() => runInNewContext("work()", { work: () => redactValue(texts) }, { timeout: 60_000 })).not.toThrow();
  });
});
