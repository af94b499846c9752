import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceSecrets, replaceSecretsInBeginning, replaceSecretsInTurns } from "./replace-secrets.ts";
import { secretMark } from "./secret-mark.ts";
import { SECRETS } from "./made-up-secrets.ts";

const marked = (text: string): string => replaceSecrets(text, (kind) => `[${kind}]`);
/** Those of the texts that come out as something else than what stands beside them. */
const wrong = (expected: Readonly<Record<string, string>>): unknown[] =>
  Object.entries(expected)
    .map(([text, after]) => ({ text, after, is: marked(text) }))
    .filter(({ after, is }) => is !== after);

describe("replaceSecrets", () => {
  it.each(SECRETS)("replaces a %s in a sentence, in JSON, in a command and in an address", (kind, secret) => {
    expect(marked(secret)).toBe(`[${kind}]`);
    expect(marked(`Deploy with ${secret}, then wait.`)).toBe(`Deploy with [${kind}], then wait.`);
    expect(marked(JSON.stringify({ note: `a\n${secret}`, b: 1 }))).not.toContain(secret.slice(-16));
    expect(marked(`{"note": "${secret}", "b": 1}`)).toBe(`{"note": "[${kind}]", "b": 1}`);
    expect(marked(`curl -H 'X-Key: ${secret}' x`)).toBe(`curl -H 'X-Key: [${kind}]' x`);
    expect(marked(`https://x.example/y?key=${secret}&z=1`)).toBe(`https://x.example/y?key=[${kind}]&z=1`);
  });

  it("replaces what stands beside the name of a secret, and keeps the name and its quotes", () => {
    expect(
      wrong({
        "PASSWORD=hunter2 ls": "PASSWORD=[password] ls",
        "DB_PASSWORD=hunter22 on port 5432": "DB_PASSWORD=[password] on port 5432",
        'the admin password is "correct horse"': 'the admin password is "[password]"',
        "the passphrase is swordfish": "the passphrase is [password]",
        '{"api_key": "abcd1234"}': '{"api_key": "[key]"}',
        '{"password": "correct \\"horse\\" battery", "a": 1}': '{"password": "[password]", "a": 1}',
        "{'secret': 'a b c d', 'e': 1}": "{'secret': '[credential]', 'e': 1}",
        'curl -d "{\\"password\\":\\"hunter2\\",\\"a\\":1}"': 'curl -d "{\\"password\\":\\"[password]\\",\\"a\\":1}"',
        "https://x/y?token=abcd1234&z=1": "https://x/y?token=[token]&z=1",
        'password: "swordfish left open': 'password: "[password] left open',
        "'password' => 'hunter2'": "'password' => '[password]'",
        "db_pass: hunter2": "db_pass: [password]",
        '{"pass":"hunter2"}': '{"pass":"[password]"}',
        "client_secret: 8f3a9b2c1d\n": "client_secret: [credential]\n",
        [`aws_secret_access_key = ${"wJ+lr/X1".repeat(5)}`]: "aws_secret_access_key = [key]",
        [`AccountName=x;AccountKey=${"a1B2".repeat(21)}Ig==;End`]: "AccountName=x;AccountKey=[Azure storage key];End",
        [`//registry.example/:_authToken=${"0a1b2c3d".repeat(4)}`]: "//registry.example/:_authToken=[token]",
      }),
    ).toEqual([]);
  });

  it("replaces what proves who somebody is in headers and addresses", () => {
    expect(
      wrong({
        "Authorization: Bearer abcd.efgh-1234": "Authorization: Bearer [credentials]",
        "curl -H 'authorization: Basic dXNlcjpwYXNz' x": "curl -H 'authorization: Basic [credentials]' x",
        '{"Authorization":"Bearer abcdefgh"}': '{"Authorization":"Bearer [credentials]"}',
        "Authorization: 0123456789abcdef": "Authorization: [credentials]",
        "send Basic dXNlcjpwYXNz": "send Basic [credentials]",
        "bearer 0123456789abcdef": "bearer [token]",
        "postgresql://app:s3cret@db/prod": "postgresql://app:[password]@db/prod",
        "psql postgres://me:s3cret@db/x": "psql postgres://me:[password]@db/x",
        "git clone https://me:hunter2@example.com/x": "git clone https://me:[password]@example.com/x",
        [`see https://x/token-eyJhbGciOiJIUzI1NiJ9.${"a".repeat(20)}.${"b".repeat(20)}`]: "see https://x/token-[JSON web token]",
      }),
    ).toEqual([]);
  });

  it("leaves ordinary text and programs alone", () => {
    const texts = [
      "There is no secret to it: practise, and keep the secret of the soup a secret.",
      "The secret is patience.",
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
      "const token = await mint(principal);",
      "interface Login { password: string; token?: Token }",
      "connect(user=user, password=password)",
      "password = os.environ['PGPASSWORD']",
      "apiKey: config.apiKey, token: request.token",
      "if (token === undefined || password == null) return;",
      "Authorization: Bearer ${token}",
      "API_KEY=$API_KEY npm test",
      "password: ${{ secrets.PASSWORD }}",
      "https://user:${PASS}@host/x",
      "max_tokens: 4096",
      "PWD=/home/ada",
      "the password is required",
      "/etc/passwd is outside the workspace",
      "A file that begins with -----BEGIN PRIVATE KEY----- is one.",
      "-----BEGIN PRIVATE KEY-----\n\nThis is how the first line of one looks.",
    ];
    expect(texts.filter((text) => marked(text) !== text)).toEqual([]);
  });

  it("cuts what is said, assigned, sent and given to commands", () => {
    const base64 = (length: number): string => "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z".repeat(5).slice(0, length);
    const hex = (length: number): string => "0a1b2c3d4e5f6789".repeat(5).slice(0, length);
    const aws = ["wJalrXUtnFEMI/K7", "MDENG/bPxRfiCYEXAMPLEKEY"].join("");
    const rest = (text: string, secret: string): [string, string] => [`${text}${secret}`, secret];
    const forms: (readonly [text: string, secret: string])[] = [
      rest("aws secret ", aws),
      rest("The AWS secret key is ", aws),
      rest("AWS_SECRET_ACCESS_KEY=", aws),
      rest("aws_session_token = ", base64(80)),
      [`{"type":"service_account","private_key_id":"${hex(40)}"}`, hex(40)],
      rest("twilio auth token ", hex(32)),
      rest("TWILIO_AUTH_TOKEN=", hex(32)),
      rest("datadog api key: ", hex(32)),
      rest("api key ", hex(32)),
      rest("token ", base64(24)),
      rest("the api key for stripe is ", base64(24)),
      rest("the staging token is ", base64(20)),
      rest("the secret is ", base64(16)),
      rest("MY_APP_KEY=", base64(32)),
      rest("KEY = ", base64(32)),
      rest("export SECRET_KEY_BASE=", hex(64)),
      rest("PASSWORD_SALT: ", base64(24)),
      rest("The password for the staging database is ", "Tr0ub4dor"),
      rest("user ada password ", "hunter2"),
      ["use password 'hunter2' to log in", "hunter2"],
      ["my password is swordfish, and hers too", "swordfish"],
      rest("pwd: ", "hunter2"),
      ["Server=x;Uid=ada;Pwd=hunter2;", "hunter2"],
      rest("login: ada / ", "hunter2"),
      rest("credentials are ada:", "hunter2"),
      rest("PIN is ", "4821"),
      rest("the seed phrase is ", "legal winner thank year wave sausage worth useful legal winner thank yellow"),
      rest("Passwort: ", "hunter2"),
      rest("contraseña: ", "hunter2"),
      rest("mot de passe : ", "hunter2"),
      rest("密码：", "hunter2"),
      ["hlvm login --password hunter2 --json", "hunter2"],
      ["gh auth --token hunter22x", "hunter22x"],
      ["sshpass -p hunter2 ssh host", "hunter2"],
      ["docker login -u ada -p hunter2", "hunter2"],
      ["mysql -u root -phunter2 shop", "hunter2"],
      ["curl -s -u ada:hunter2 https://x", "hunter2"],
      ["jdbc:mysql://db:3306/x?user=ada&password=hunter2", "hunter2"],
      ["mongodb+srv://ada:hunter2@cluster0.example/x", "hunter2"],
      ["redis://:hunter2@cache:6379/0", "hunter2"],
      [`SENTRY_DSN=https://${hex(32)}@o1.example/2`, hex(32)],
      rest("Authorization: ApiKey ", base64(30)),
      rest("Authorization: Negotiate YII", base64(40)),
      [`Authorization: Digest username="ada", response="${hex(32)}"`, hex(32)],
      [`Authorization: AWS4-HMAC-SHA256 Credential=x/2026, Signature=${hex(64)}`, hex(64)],
      [`https://s3.example/b/k?X-Amz-Signature=${hex(64)}&x=1`, hex(64)],
      rest("Cookie: session=", hex(32)),
      rest("Set-Cookie: sid=", base64(32)),
      ['api_key = "aB3dE5gH7j" + "K9mN1pQ2rS"', "K9mN1pQ2rS"],
      ["otpauth://totp/x?secret=JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"],
    ];
    expect(forms.filter(([text, secret]) => marked(text).includes(secret)).map(([text]) => text)).toEqual([]);
  });

  it("leaves what is said about secrets", () => {
    const texts = [
      "The secret of good soup is patience and 3 hours.",
      "The secret is that we deploy 2 times a day",
      "The secret is BM25 with stemming",
      "The secret is in AWS Secrets Manager under prod/db-1",
      "Our secret santa is on December 24",
      "the secret is out: version2 ships Friday",
      "secret scanning is on for repo42",
      "The client secret is rotated by terraform-v2",
      "The token expires after 24h",
      "the token is RS256-signed",
      "The token is issued by auth-service2",
      "The token budget is 200k",
      "token limit: 4096",
      "Uses OAuth2 bearer tokens",
      "The API key is stored in vault/path2",
      "The access key is rotated every 90days",
      "the passphrase is asked twice",
      "the password is shared.",
      "The password is 12 characters long at least",
      "Password reset links expire after 2h",
      "password hashing uses argon2id",
      "Passwords are hashed with bcrypt12",
      "My password manager is Bitwarden2024",
      "Passwort: mindestens 12 Zeichen",
      "Credentials are in ~/.aws/credentials",
      "credentials: see 1Password",
      "Secrets: see docs/secrets2.md",
      "Sort key: user#123",
      "partition_key=tenant_id",
      "primary key: user_id2",
      "cache-key: v2-linux-node26",
      "Key: Ctrl+K2",
      "The pin is connected to GPIO4",
      "PINs have 4 digits",
      `Commit ${"0a1b2c3d4e".repeat(4)} broke it`,
      `integrity sha512-${"aB3dE5gH7jK9mN1p".repeat(5)}==`,
      "The user's id is 01234567-89ab-cdef-0123-456789abcdef",
      "The session cookie: httpOnly, 30d",
      "login takes 2s",
      "mysql -u root -p asks for it",
      "use --password to be asked",
      "curl -u ada:$PASS https://x",
      "Tokens are read in services/edge/src/http/model-doors/options2.ts",
      "the seed is 42",
    ];
    expect(texts.filter((text) => marked(text) !== text).map(marked)).toEqual([]);
  });

  it("replaces a key on lines, numbered, quoted, or cut off before its end, and nothing after it", () => {
    const line = "MIIE" + "a1B2".repeat(15);
    const begin = ["-----BEGIN PRIVATE", "KEY-----"].join(" ");
    const end = ["-----END PRIVATE", "KEY-----"].join(" ");
    expect(
      wrong({
        [`x\n${begin}\n${line}\n${line}\nabc=\n${end}\ny`]: "x\n[private key]\ny",
        [`  1\t${begin}\n  2\t${line}\n  3\t${end}\n  4\ty`]: "  1\t[private key]\n  4\ty",
        [`k: |\n  ${begin}\n  ${line}\n  ${end}\nl: 1`]: "k: |\n  [private key]\nl: 1",
        [`+${begin}\n+${line}\n+${end}\n x y`]: "+[private key]\n x y",
        [`"${begin}" +\n  "${line}" +\n  "${end}";`]: `"[private key]";`,
        [`${begin}\r\nProc-Type: 4,ENCRYPTED\r\n\r\n${line}\r\n${end}\r\n`]: "[private key]\r\n",
        [`${begin}\n${line}\n${line}\nand then some words\n`]: "[private key]\nand then some words\n",
      }),
    ).toEqual([]);
  });

  it("gives what overlaps the kind of the more exact form, and leaves nothing of either", () => {
    const secret = `${["gh", "p_"].join("")}${"a1B2".repeat(9)}`;
    expect(marked(`password=${secret}`)).toBe("password=[GitHub token]");
    expect(marked(`password=${secret}-and-more x`)).toBe("password=[GitHub token] x");
  });

  it("does not let the text switch the rules off", () => {
    const [, secret] = SECRETS.find(([kind]) => kind === "Figma token")!;
    expect(marked(`/* secretlint-disable */ ${secret}`)).toBe("/* secretlint-disable */ [Figma token]");
  });

  it("finds a secret in any surroundings, and changes nothing the second time", () => {
    const mark = (kind: string): string => secretMark(kind, "a1b2");
    const between = fc.constantFrom(..." \t\n\"'`=,;(<[{|&?/".split(""), "\\n", "%20", "=> ");
    const property = fc.property(
      fc.string(),
      between,
      fc.constantFrom(...SECRETS),
      between,
      fc.string(),
      (before, one, [, secret], two, after) => {
        const once = replaceSecrets(`${before}${one}${secret}${two}${after}`, mark);
        return !once.includes(secret) && replaceSecrets(once, mark) === once;
      },
    );
    expect(() => fc.assert(property, { numRuns: 3_000 })).not.toThrow();
  });

  it("finds a key that something is glued to", () => {
    const glued = SECRETS.filter(([kind]) =>
      /^(AWS|GitHub|GitLab|Slack token|Google|npm|PyPI|Anthropic|OpenAI|Stripe|Shopify|Linear|Notion|Docker)/.test(kind),
    );
    const property = fc.property(
      fc.constantFrom(...glued),
      fc.stringMatching(/^\w{0,4}$/),
      fc.stringMatching(/^\w{0,4}$/),
      ([, secret], before, after) => {
        return !marked(before + secret + after).includes(secret);
      },
    );
    expect(() => fc.assert(property, { numRuns: 1_000 })).not.toThrow();
  });
});

describe("replaceSecretsInTurns", () => {
  it("gives the same, and lets others have their turn", async () => {
    const text = `${"plain text and more of it\n".repeat(20_000)}${SECRETS.map(([, secret]) => secret).join("\n")}`;
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const replaced = await replaceSecretsInTurns(text, (kind) => `[${kind}]`);
    clearInterval(timer);
    expect(replaced).toBe(marked(text));
    expect(turns).toBeGreaterThan(3);
  });
});

describe("replaceSecretsInBeginning", () => {
  it("cuts a text without leaving half of a secret", () => {
    const length = 200;
    const cutTo = (text: string): string => replaceSecretsInBeginning(text, length, (kind) => `[${kind}]`);
    const property = fc.property(fc.constantFrom(...SECRETS), fc.integer({ min: 1, max: 199 }), ([kind, secret], place) => {
      const before = "some words ".repeat(20).slice(0, place - 1);
      const cut = cutTo(`${before} ${secret} ${"and more ".repeat(1_000)}`);
      return cut.startsWith(`${before} [${kind}]`) && cut.length <= Math.max(length, place + kind.length + 2);
    });
    expect(() => fc.assert(property, { numRuns: 500 })).not.toThrow();
    expect(cutTo("plain ".repeat(100))).toBe("plain ".repeat(100).slice(0, length));
    expect(cutTo(`${"x ".repeat(100)}${SECRETS[4]![1]}`)).toBe("x ".repeat(100));
  });
});

// A pattern that looks again and again at the same characters takes minutes to hours for these, and is then ended.
describe("time in proportion to the text", () => {
  it.each([
    ..."eyJ-,eyJ,eyJhbGciOi.,eyJhbGciOi-.,-----BEGIN PRIVATE KEY-----,-----BEGIN ,a://,a://:,://a:b,password ,password=,pass=(".split(","),
    ...`password:",password:',password:\\",password="\\,pass,sk-,sk_,ghp_,SG.,bearer ,authorization: bearer ,authorization=,AIza,xoxb-`.split(
      ",",
    ),
    ...'AKIA,[secret ,[secret: ,\\",a, ,-,.,=,ghs_1_,SG.a.,hf_,ops_ey,\\n'.split(","),
    "-----BEGIN PRIVATE KEY-----\n",
    `-----BEGIN PRIVATE KEY-----\n${"a:".repeat(60)}!\n`,
    "password: is\n",
    ..."token a ,password for a ,curl -u ,mysql ,docker login ,Cookie: a=,KEY=,A,seed abc ,PIN is ,login: a / ,signature=,密码".split(","),
  ])("holds for %j, again and again", { timeout: 120_000 }, (piece) => {
    const text = piece.repeat(Math.ceil(2_000_000 / piece.length));
    expect(() => runInNewContext("work()", { work: () => marked(text) }, { timeout: 60_000 })).not.toThrow();
  });
});
