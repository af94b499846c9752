import { describe, expect, it } from "vitest";
import { holdsSecretMark, RunSecrets } from "./run-secrets.ts";

const token = `${["gh", "p_"].join("")}${"a1B2".repeat(9)}`;
const other = `${["gh", "p_"].join("")}${"c3D4".repeat(9)}`;
const key = new Uint8Array(32).fill(1);

describe("RunSecrets", () => {
  it("gives a secret the same mark in every run of a session, and another in the next", () => {
    const mark = new RunSecrets(key, []).redact(token);
    expect(mark).toMatch(/^\[secret: GitHub token [0-9a-f]{4}\]$/);
    expect(new RunSecrets(key, []).redact(`x ${token} ${other}`)).toContain(mark);
    expect(new RunSecrets(new Uint8Array(32).fill(2), []).redact(token)).not.toBe(mark);
    expect(new RunSecrets(key, []).redact(other)).not.toBe(mark);
  });

  it("gives back the one that was allowed and was met, and no other", () => {
    const mark = new RunSecrets(key, []).redact(token);
    const secrets = new RunSecrets(key, [mark.slice(-5, -1)]);
    expect(secrets.reveal(mark)).toBe(mark);
    const text = secrets.redact(`${token} and ${other}`);
    expect(text).not.toContain(token);
    expect(secrets.reveal(text)).toBe(`${token} and ${secrets.redact(other)}`);
  });

  it("gives back every one of a kind that was allowed", () => {
    const secrets = new RunSecrets(key, ["github token"]);
    expect(secrets.reveal(secrets.redact(`${token} ${other} password=hunter2`))).toMatch(
      new RegExp(`^${token} ${other} password=\\[secret: password [0-9a-f]{4}\\]$`),
    );
  });

  it("redacts the texts in a call's arguments, keeps them JSON, and gives them back", () => {
    const json = JSON.stringify({
      command: `curl -H "X: ${token}"\n`,
      env: { password: 'a"b\\c1' },
      list: [token, 1, null],
      token: "12345678x",
    });
    const secrets = new RunSecrets(key, ["GitHub token"]);
    const redacted = secrets.redactArguments(json);
    expect(redacted).not.toContain(token);
    expect(redacted).not.toContain("12345678x");
    expect(JSON.parse(secrets.revealArguments(redacted))).toMatchObject({ command: `curl -H "X: ${token}"\n`, list: [token, 1, null] });
    expect(secrets.redactArguments('{"path":"a.ts"}')).toBe('{"path":"a.ts"}');
    expect(secrets.redactArguments(`not JSON ${token}`)).toMatch(/^not JSON \[secret: /);
  });

  it("tells a mark from words about secrets", () => {
    expect(holdsSecretMark(`a ${new RunSecrets(key, []).redact(token)} b`)).toBe(true);
    expect(holdsSecretMark("[secret: GitHub token] [secret] a1b2]")).toBe(false);
  });
});
