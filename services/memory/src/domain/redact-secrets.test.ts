import fastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import { redactSecrets } from "./redact-secrets.ts";

const SECRETS: Record<string, string> = {
  "AWS key": "AKIAIOSFODNN7EXAMPLE",
  "GitHub token": `ghp_${"a1B2".repeat(9)}`,
  "Anthropic key": `sk-ant-api03-${"x9_-".repeat(10)}`,
  "Slack token": "xoxb-123456789012-abcdefghij",
  "JSON web token": `eyJhbGciOiJIUzI1NiJ9.${"eyJzdWIiOiIx".repeat(2)}.abc-def`,
};

describe("redactSecrets", () => {
  it.each(Object.entries(SECRETS))("cuts out a %s wherever it stands", (kind, secret) => {
    expect(redactSecrets(`Deploy with ${secret}, then wait.`)).toBe(`Deploy with [secret: ${kind}], then wait.`);
  });

  it("cuts the value out of an assignment and of an address, and leaves the rest", () => {
    expect(redactSecrets("DB_PASSWORD=hunter22 on port 5432")).toBe("DB_PASSWORD=[secret: password] on port 5432");
    expect(redactSecrets('the admin password is "correct horse"')).toBe('the admin password is "[secret: password]"');
    expect(redactSecrets("postgresql://app:s3cret@db/prod")).toBe("postgresql://app:[secret: password]@db/prod");
    expect(redactSecrets("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nok")).toBe("[secret: private key]\nok");
  });

  it("cuts the value out that stands below its name", () => {
    expect(redactSecrets("password: |\n  hunter2x\nuser: ada")).toBe("password: |\n  [secret: credential]\nuser: ada");
    expect(redactSecrets("secret:\n  name: db1\n  key: x")).toBe("secret:\n  name: db1\n  key: x");
  });

  it("leaves plain talk about secrets alone", () => {
    const text = "Tokens are rotated monthly; the password policy lives in docs/security.md and task-force notes.";
    expect(redactSecrets(text)).toBe(text);
  });

  it("finds a key in any surroundings, ends, and changes nothing the second time", () => {
    fastCheck.assert(
      fastCheck.property(fastCheck.string({ maxLength: 200 }), fastCheck.string({ maxLength: 200 }), (before, after) => {
        const once = redactSecrets(`${before} ${SECRETS["AWS key"]} ${after}`);
        expect(once).not.toContain(SECRETS["AWS key"]);
        expect(redactSecrets(once)).toBe(once);
      }),
    );
  });
});
