import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { LocalAuthenticator } from "./local-authenticator.ts";

const directory = mkdtempSync(join(tmpdir(), "hlvm-token-"));
const file = join(directory, "token");
const token = "ab".repeat(32);

afterAll(() => rmSync(directory, { recursive: true }));

describe("LocalAuthenticator", () => {
  it("admits whoever has the token in the file, as the machine's user with every role", async () => {
    writeFileSync(file, `${token}\n`);
    expect(await LocalAuthenticator.fromFile(file).authenticate(`Bearer ${token}`)).toEqual({
      principal: {
        organization: "local",
        id: `user:${userInfo().username}`,
        roles: ["developer", "approver", "admin", "security-auditor"],
      },
    });
  });

  it("does not start where the token file is missing or empty", () => {
    expect(() => LocalAuthenticator.fromFile(join(directory, "none"))).toThrow(/cannot be used/);
    writeFileSync(file, "");
    expect(() => LocalAuthenticator.fromFile(file)).toThrow(/fewer than 32 characters/);
  });
});
