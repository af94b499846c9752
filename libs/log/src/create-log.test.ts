import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { LogLevel } from "./create-log.ts";

const MODULE = fileURLToPath(new URL("create-log.ts", import.meta.url));

/** What a process writes that logs like this, and then ends at once. */
function written(statements: string, level: LogLevel = "info"): string {
  const code = `import { createLog } from ${JSON.stringify(MODULE)};
const log = createLog("policy", ${JSON.stringify(level)});
${statements}
process.exit(0);`;
  return spawnSync(process.execPath, ["--input-type=module", "--eval", code], { encoding: "utf8" }).stdout;
}

function entries(statements: string, level: LogLevel = "info"): Record<string, unknown>[] {
  return written(statements, level)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("createLog", () => {
  it("writes a line of JSON an entry, in order, all of them before the process ends", () => {
    const lines = entries('for (let index = 0; index < 1000; index++) log.info({ index }, "one\\ntwo");');
    expect(lines.map(({ index }) => index)).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
    expect(lines[0]).toMatchObject({ level: "info", service: "policy", msg: "one\ntwo", time: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  it("leaves out what is below its level", () => {
    expect(entries('log.debug("a"); log.info("b"); log.warn("c"); log.error("d");', "warn").map(({ msg }) => msg)).toEqual(["c", "d"]);
  });

  it.each([
    ["a field", "{ token: value }"],
    ["a field of a field, deep down", "{ a: { b: [{ c: { masterKey: value } }] } }"],
    ["a header, however it is written", '{ headers: { Authorization: value, "set-cookie": [value, value] } }'],
    ["all that a field holds", "{ grant: { text: value, more: [value] }, key: 4711, secret: value }"],
    ["what an error carries", "{ err: Object.assign(new Error('broken'), { request: { api_key: value, databaseUrl: value } }) }"],
    ["what a child log was given", "{}, log.child({ password: value })"],
  ])("cuts secrets out: %s", (_, given) => {
    const text = written(`const value = "sword\\"fish"; const [fields, to = log] = [${given}]; to.info(fields, "said");`);
    expect(text).toContain("[secret]");
    expect(text).not.toMatch(/fish|4711/);
    expect(JSON.parse(text)).toMatchObject({ msg: "said", service: "policy" });
  });

  it("cuts nothing else", () => {
    const fields = { tokens: 5, keys: ["a"], text: '"token":"not a field"', tokenFile: "/token" };
    expect(entries(`log.info(${JSON.stringify(fields)}, "said");`)).toEqual([expect.objectContaining(fields)]);
  });
});
