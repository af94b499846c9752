import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceSecrets } from "./replace-secrets.ts";

const KEYS: readonly (readonly [kind: string, secret: string])[] = [
  ["AWS key", "AKIAIOSFODNN7EXAMPLE"],
  ["AWS key", "ASIAIOSFODNN7EXAMPLE"],
  ["GitHub token", `ghp_${"a1B2".repeat(9)}`],
  ["GitHub token", `github_pat_${"a".repeat(40)}`],
  ["GitLab token", `glpat-${"a1-_".repeat(5)}`],
  ["API key", `sk-ant-api03-${"x9_-".repeat(10)}`],
  ["API key", `sk-proj-${"c".repeat(40)}`],
  ["API key", `sk_live_${"d".repeat(24)}`],
  ["Slack token", "xoxb-123456789012-abcdefghij"],
  ["Google key", `AIza${"e".repeat(35)}`],
  ["npm token", `npm_${"f".repeat(36)}`],
  ["Hugging Face token", `hf_${"g".repeat(34)}`],
  ["SendGrid key", `SG.${"h".repeat(22)}.${"i".repeat(43)}`],
  ["token", `eyJhbGciOiJIUzI1NiJ9.${"eyJzdWIiOiIx".repeat(2)}.abc-def`],
  ["private key", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----"],
];

const marked = (text: string, length?: number): string => replaceSecrets(text, (kind) => `[${kind}]`, length);
/** Those of the texts that come out as something else than what stands beside them. */
const wrong = (expected: Readonly<Record<string, string>>): unknown[] =>
  Object.entries(expected).filter(([text, after]) => marked(text) !== after);

describe("replaceSecrets", () => {
  it.each(KEYS)("replaces a %s, wherever it stands", (kind, secret) => {
    expect(marked(`x "${secret}" y`)).toBe(`x "[${kind}]" y`);
    expect(marked(`Deploy with ${secret}, then wait.`)).toBe(`Deploy with [${kind}], then wait.`);
    expect(marked(secret)).toBe(`[${kind}]`);
  });

  it("replaces what stands beside the name of a secret, and keeps the name and its quotes", () => {
    expect(
      wrong({
        "PASSWORD=hunter2 ls": "PASSWORD=[secret] ls",
        "DB_PASSWORD=hunter22 on port 5432": "DB_PASSWORD=[secret] on port 5432",
        'the admin password is "correct horse"': 'the admin password is "[secret]"',
        "the passphrase is swordfish": "the passphrase is [secret]",
        '{"api_key": "abcd1234"}': '{"api_key": "[secret]"}',
        '{"password": "correct \\"horse\\" battery", "a": 1}': '{"password": "[secret]", "a": 1}',
        "{'secret': 'a b c d', 'e': 1}": "{'secret': '[secret]', 'e': 1}",
        'curl -d "{\\"password\\":\\"hunter2\\",\\"a\\":1}"': 'curl -d "{\\"password\\":\\"[secret]\\",\\"a\\":1}"',
        "https://x/y?token=abcd1234&z=1": "https://x/y?token=[secret]&z=1",
        'password: "never closed': 'password: "[secret] closed',
        "'password' => 'hunter2'": "'password' => '[secret]'",
        "db_pass: hunter2": "db_pass: [secret]",
        '{"pass":"hunter2"}': '{"pass":"[secret]"}',
      }),
    ).toEqual([]);
  });

  it("replaces what proves who somebody is in headers and addresses", () => {
    expect(
      wrong({
        "Authorization: Bearer abcd.efgh-1234": "Authorization: Bearer [token]",
        "curl -H 'authorization: Basic dXNlcjpwYXNz' x": "curl -H 'authorization: Basic [token]' x",
        '{"Authorization":"Bearer abcdefgh"}': '{"Authorization":"Bearer [token]"}',
        "Authorization: 0123456789abcdef": "Authorization: [token]",
        "send Basic dXNlcjpwYXNz": "send Basic [token]",
        "bearer 0123456789abcdef": "bearer [token]",
        "postgresql://app:s3cret@db/prod": "postgresql://app:[password]@db/prod",
        "psql postgres://me:s3cret@db/x": "psql postgres://me:[password]@db/x",
        [`see https://x/token-eyJhbGciOiJIUzI1NiJ9.${"a".repeat(20)}.${"b".repeat(20)}`]: "see https://x/token-[token]",
      }),
    ).toEqual([]);
  });

  it("leaves ordinary text alone", () => {
    const texts = [
      "git log --oneline",
      "https://example.com:8080/x",
      "https://registry.example.com/@scope/name",
      "the token bucket",
      "src/password.ts",
      "a@b.c",
      "tokenize(x)",
      "We use basic authentication with bearer credentials",
      "Tokens are rotated monthly; the password policy lives in docs/security.md and task-force notes.",
      "all tests pass: 1,071 of them",
      "CONSTRAINT pk_audit_event_organization_session PRIMARY KEY",
      "authorization: required for every caller",
    ];
    expect(texts.filter((text) => marked(text) !== text)).toEqual([]);
  });

  it("gives what overlaps the kind of the more exact form, and leaves nothing of either", () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    expect(marked(`password=${secret}`)).toBe("password=[GitHub token]");
    expect(marked(`password=${secret}-and-more x`)).toBe("password=[GitHub token] x");
  });

  it("finds a key in any surroundings, and changes nothing the second time", () => {
    const property = fc.property(fc.string(), fc.constantFrom(...KEYS), fc.string(), (before, [, secret], after) => {
      const once = replaceSecrets(`${before} ${secret} ${after}`, (kind) => `[${kind} left out]`);
      return !once.includes(secret) && replaceSecrets(once, (kind) => `[${kind} left out]`) === once;
    });
    expect(() => fc.assert(property, { numRuns: 1_000 })).not.toThrow();
  });

  it("cuts a text without leaving half of a secret", () => {
    const length = 200;
    const property = fc.property(fc.constantFrom(...KEYS), fc.integer({ min: 1, max: 199 }), ([kind, secret], place) => {
      const before = "some words ".repeat(20).slice(0, place - 1);
      const text = `${before} ${secret} ${"and more ".repeat(1_000)}`;
      const cut = marked(text, length);
      return cut.startsWith(`${before} [${kind}]`) && cut.length <= Math.max(length, place + kind.length + 2);
    });
    expect(() => fc.assert(property, { numRuns: 500 })).not.toThrow();
    expect(marked("plain ".repeat(100), length)).toBe("plain ".repeat(100).slice(0, length));
    expect(marked(`${"x ".repeat(100)}${KEYS[0]![1]}`, length)).toBe("x ".repeat(100));
  });

  // A pattern that looks again and again at the same characters takes minutes to hours for these, and is then ended.
  it.each([
    ..."eyJ-,eyJ,eyJhbGciOi.,eyJhbGciOi-.,-----BEGIN PRIVATE KEY-----,-----BEGIN ,a://,://a:,://a:b,password ,password=".split(","),
    ...`password:",password:',password:\\",password="\\,pass,sk-,sk_,ghp_,SG.,bearer ,authorization: bearer ,authorization=,AIza,xoxb-`.split(
      ",",
    ),
    ...'AKIA,[secret ,\\",a, ,-,.,='.split(","),
  ])("takes time in proportion to the text for %j, again and again", { timeout: 120_000 }, (piece) => {
    const text = piece.repeat(Math.ceil(4_000_000 / piece.length));
    expect(() => runInNewContext("work()", { work: () => marked(text) }, { timeout: 60_000 })).not.toThrow();
  });
});
