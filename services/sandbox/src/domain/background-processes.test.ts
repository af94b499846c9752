import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../testing/open-test-sandbox.ts";

let sandbox: TestSandbox;
const start = (command: string) => sandbox.run("shell_exec", { command, background: true });
const list = async (): Promise<string> => (await sandbox.run("list_processes", {})).content;
const stop = (processId: number) => sandbox.run("stop_process", { process_id: processId });
const idIn = (content: string): number => Number(/process (\d+)/.exec(content)![1]);

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

describe("a command in the background", () => {
  it("goes on after its call, shows what it prints, and ends when it is stopped, with all that it started", async () => {
    const started = await start("echo first; (setsid sh -c 'while :; do date > beat; sleep 0.01; done' &); sleep 300");
    const processId = idIn(started.content);
    await expect.poll(list).toContain("first");
    expect(await list()).toMatch(new RegExp(`^process ${processId}, running since `));
    expect((await sandbox.run("shell_exec", { command: "while [ ! -s beat ]; do sleep 0.01; done; echo beats" })).content).toBe("beats\n");
    expect((await stop(processId)).content).toContain("it was stopped");
    const last = readFileSync(join(sandbox.workspace, "beat"), "utf8");
    await sandbox.run("shell_exec", { command: "sleep 0.1" });
    expect(readFileSync(join(sandbox.workspace, "beat"), "utf8")).toBe(last);
  });

  it("is listed with its exit code when it has ended by itself", async () => {
    const processId = idIn((await start("exit 3")).content);
    await expect.poll(list).toContain(`process ${processId}, exit code 3: exit 3`);
    expect((await stop(99)).errorCode).toBe("not_found");
  });

  it("has put back what it changes of what programs outside obey, while it runs and at its end", async () => {
    mkdirSync(join(sandbox.workspace, ".git/hooks"), { recursive: true });
    writeFileSync(join(sandbox.workspace, ".git/config"), "[core]\n\tbare = false\n");
    const config = (): string => readFileSync(join(sandbox.workspace, ".git/config"), "utf8");
    const processId = idIn((await start("sleep 0.2; echo evil >> .git/config; sleep 300")).content);
    await expect.poll(list).toContain("It was put back");
    expect(config()).toBe("[core]\n\tbare = false\n");
    await stop(processId);
    const second = idIn((await start("echo evil >> .git/config")).content);
    await expect.poll(list).toContain(`process ${second}, exit code 0`);
    expect(config()).toBe("[core]\n\tbare = false\n");
  });

  it("is refused where four run already, and all end with the session's sandboxes", async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(() => start("sleep 300")));
    expect(ids.every(({ success }) => success)).toBe(true);
    expect(await start("sleep 300")).toMatchObject({ success: false, content: expect.stringContaining("stop_process") });
    await sandbox.stop();
    expect(await list()).not.toContain("running since");
  });
});
