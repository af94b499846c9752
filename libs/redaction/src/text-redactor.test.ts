import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceSecrets } from "./replace-secrets.ts";
import { secretMark } from "./secret-mark.ts";
import { TextRedactor } from "./text-redactor.ts";
import { SECRETS } from "./made-up-secrets.ts";

function inPieces(text: string, lengths: readonly number[]): string {
  const redactor = new TextRedactor((kind) => secretMark(kind));
  let out = "";
  let at = 0;
  for (let turn = 0; at < text.length; turn++) {
    const length = lengths[turn % lengths.length]!;
    out += redactor.push(text.slice(at, at + length));
    at += length;
  }
  return out + redactor.end();
}

const keyOnLines = [
  "-----BEGIN RSA PRIVATE",
  " KEY-----\n",
  `${"a1B2".repeat(16)}\n`.repeat(3),
  "-----END RSA PRIVATE",
  " KEY-----\n",
].join("");
const part = fc.oneof(
  fc.string(),
  fc.constantFrom(...SECRETS.map(([, secret]) => secret), keyOnLines, keyOnLines.slice(0, 120)),
  fc.constantFrom(
    " ",
    "\n",
    "\r\n",
    "\t",
    '"',
    "password=",
    "password is ",
    "token: ",
    "Bearer ",
    "https://a:hunter2@b ",
    "-----BEGIN ",
    "the secret\n",
    "PIN is 4821 ",
    "curl -s -u ada:hunter2 ",
    "docker login -p hunter2 ",
    "MY_KEY = a1b2c3d4e5f6g7h8 ",
    "the password for a b is hunter2 ",
    "Cookie: a=b1c2d3e4f5 ",
  ),
  fc.constantFrom("word ".repeat(200), "x".repeat(3_000), "y1".repeat(20_000), "token ".repeat(7_000)),
);
const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));

describe("TextRedactor", () => {
  it("gives the same wherever the text is cut", () => {
    const property = fc.property(text, fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 1, maxLength: 8 }), (whole, lengths) => {
      expect(inPieces(whole, lengths)).toBe(replaceSecrets(whole, (kind) => secretMark(kind)));
    });
    fc.assert(property, { numRuns: 300 });
  });

  it("lets nothing of a secret out that comes character by character", () => {
    for (const [kind, secret] of SECRETS) expect(inPieces(`It is ${secret}\nand that.`, [1])).toBe(`It is ${secretMark(kind)}\nand that.`);
    expect(inPieces(`It is ${keyOnLines}and that.`, [1])).toBe(`It is ${secretMark("private key")}\nand that.`);
  });

  it("replaces a secret longer than what is looked at together, to its end", () => {
    const long = `${["gh", "p_"].join("")}${"a1B2".repeat(30_000)}`;
    expect(inPieces(`x ${long} y`, [1_000])).toBe("x [secret: GitHub token] y");
    expect(inPieces(`${"z".repeat(32_700)}.${long} y`, [1_000])).toBe(`${"z".repeat(32_700)}.[secret: GitHub token] y`);
  });

  it("gives out words as they come, and holds back only what a secret may go on from", () => {
    const redactor = new TextRedactor((kind) => secretMark(kind));
    expect(redactor.push("Listening on po")).toBe("Listening on ");
    expect(redactor.push("rt 80 ")).toBe("port 80 ");
    expect(redactor.push("the password is hunt")).toBe("the ");
    expect(redactor.push("er2\nDone")).toBe("password is [secret: password]\n");
    expect(redactor.end()).toBe("Done");
  });
});
