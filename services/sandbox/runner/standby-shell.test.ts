import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../src/testing/open-test-sandbox.ts";

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});

afterAll(() => sandbox.close());

const OWN_ARGUMENTS = "tr '\\0' ' ' </proc/$$/cmdline";
const long = "x".repeat(2_000);

async function waitsForCommand(): Promise<void> {
  const look = { command: "pgrep -f '[I]FS= read'", working_directory: "." };
  await expect.poll(async () => (await sandbox.run("shell_exec", look)).exitCode).toBe(0);
}

describe("a shell that waits for its command", () => {
  it("is there for the first call, and again for each that follows", async () => {
    for (let call = 0; call < 3; call++) {
      await waitsForCommand();
      expect((await sandbox.run("shell_exec", { command: OWN_ARGUMENTS })).content).toMatch(/^\/bin\/sh -c IFS= read/);
    }
  });

  it("is not what runs a long command, or one in another folder", async () => {
    await waitsForCommand();
    for (const given of [{ command: `${OWN_ARGUMENTS} # ${long}` }, { command: OWN_ARGUMENTS, working_directory: "." }])
      expect((await sandbox.run("shell_exec", given)).content).toMatch(/^\/bin\/sh -c tr /);
  });

  it.each([
    ["lines", "echo one\necho two\n\necho three\n"],
    ["a last backslash", "echo a\\"],
    ["a text within", "cat <<'END'\n  $kept as it is\\n\nEND"],
    ["a text within without an end of line after it", "cat <<END\nlast line\nEND"],
    ["what it could read", "cat; wc -c; echo read: $?"],
    ["spaces at both ends", "  echo '  spaces  '  "],
    ["quotes, dollars and backslashes", "printf '%s\\n' \"$HOME\" '$HOME' \\$HOME 'it'\\''s' \"\\\\\""],
    ["other letters", "printf 'grüße, 世界 %s\\n' \"🙂\""],
    ["parameters", 'echo "$0 $# [$*] [$line] [$command] [$feeds]"'],
    ["variables that are set", "set | grep -E '^(line|command|feeds)='"],
    ["the environment", "env | sort"],
    ["the folder and its open files", "pwd; ls -l /proc/self/fd | wc -l; readlink /proc/self/fd/0"],
    ["an exit in the middle", "echo before; exit 7; echo after"],
    ["a failed last command", "true; false"],
    ["options", "set -eu; false; echo not reached"],
    ["a trap", "trap 'echo bye' EXIT; echo hi"],
    ["a process in the background", "sleep 30 & echo $((1 + 1)); kill $!"],
    ["a signal to itself", "kill -9 $$"],
    ["nothing", ""],
    ["a remark", "# nothing"],
  ])("does what a shell of its own does with %s", async (_, command) => {
    await waitsForCommand();
    const { content, exitCode, errorCode } = await sandbox.run("shell_exec", { command });
    const own = await sandbox.run("shell_exec", { command, working_directory: "." });
    expect({ content, exitCode, errorCode }).toEqual({ content: own.content, exitCode: own.exitCode, errorCode: own.errorCode });
  });

  it("that was ended by an earlier command is not given another", async () => {
    await waitsForCommand();
    await sandbox.run("shell_exec", { command: "pkill -9 -f 'IFS= read'", working_directory: "." });
    expect((await sandbox.run("shell_exec", { command: "echo still here" })).content).toBe("still here\n");
  });

  it("is made anew after a call that was cut off, with which the last one was ended", async () => {
    await sandbox.run("shell_exec", { command: "echo begun; sleep 63", working_directory: ".", timeout_seconds: 1 });
    await waitsForCommand();
    expect((await sandbox.run("shell_exec", { command: OWN_ARGUMENTS })).content).toMatch(/^\/bin\/sh -c IFS= read/);
  });

  it("has its command and what that started ended when the call is cancelled", async () => {
    await waitsForCommand();
    const leaving = new AbortController();
    const command = "echo begun; sleep 61 & sleep 62";
    const result = await sandbox.run("shell_exec", { command }, { signal: leaving.signal, onOutput: () => leaving.abort() });
    expect(result).toMatchObject({ errorCode: "cancelled", content: expect.stringContaining("begun") });
    expect((await sandbox.run("shell_exec", { command: "pgrep -x sleep" })).exitCode).toBe(1);
  });
});
