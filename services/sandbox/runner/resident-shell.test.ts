import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../src/testing/open-test-sandbox.ts";

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});

afterAll(() => sandbox.close());

/** `$$` would take a command to a shell of its own. */
const OWN_ARGUMENTS = "tr '\\0' ' ' </proc/$(sh -c 'echo $PPID')/cmdline";
const SHELL = "$(pgrep -of 'exec [4]>')";
const RESIDENT = /^\/bin\/sh -c exec 4>&2/;
const long = "x".repeat(2_000);

const run = (command: string) => sandbox.run("shell_exec", { command });
/** In a shell of its own, since it names a folder. */
const runAlone = (command: string) => sandbox.run("shell_exec", { command, working_directory: "." });

async function waitsForCommand(): Promise<void> {
  await expect.poll(async () => (await runAlone("pgrep -f '[I]FS= read'")).exitCode).toBe(0);
}

describe("the shell that stays", () => {
  it("runs one command after the other", async () => {
    await waitsForCommand();
    const first = await run(`echo ${SHELL}`);
    expect(first.content).toMatch(/^\d+\n$/);
    for (let call = 0; call < 3; call++) expect((await run(`echo ${SHELL}`)).content).toBe(first.content);
    expect((await run(OWN_ARGUMENTS)).content).toMatch(RESIDENT);
  });

  it("is not what runs a long command, or one in another folder", async () => {
    await waitsForCommand();
    expect((await run(`${OWN_ARGUMENTS} # ${long}`)).content).toMatch(/^\/bin\/sh -c tr /);
    expect((await runAlone(OWN_ARGUMENTS)).content).toMatch(/^\/bin\/sh -c tr /);
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
    ["parameters", 'echo "$0 $# [$*] [$line] [$command] [$feeds] [$?] [$!] [$-]"'],
    ["variables that are set", "set | grep -E '^(line|command|feeds)='"],
    ["the environment", "env | sort"],
    ["the folder and its open files", "pwd; ls -l /proc/self/fd | wc -l; readlink /proc/self/fd/0"],
    ["an exit in the middle", "echo before; exit 7; echo after"],
    ["a failed last command", "true; false"],
    ["options", "set -eu; false; echo not reached"],
    ["a trap", "trap 'echo bye' EXIT; echo hi"],
    ["a process in the background", "sleep 30 & echo $((1 + 1)); kill $!"],
    ["a process in the background that prints a little later", "(sleep 0.02; echo later) & echo now"],
    ["a signal to itself", "kill -9 $$"],
    ["a signal to its group", "kill 0; sleep 5"],
    ["a program in its place", "exec echo replaced"],
    ["closed output", "exec >&-; true"],
    ["much of both kinds at once", "seq 1 3000; seq 1 20 >&2; seq 1 2000"],
    ["more than a pipe holds", "seq 1 60000; seq 1 30000 >&2"],
    ["output without end", "yes"],
    ["a trap for a signal to itself", "trap 'echo got' USR1; kill -USR1 $$; echo done"],
    ["a loop that is left by more than there is", "for i in 1 2; do break 2; done; echo after"],
    ["a continue and a return out of nothing", "continue; echo went on; return 3; echo after"],
    ["a script that is read and leaves a loop", "echo 'break; echo not reached' >leave; while :; do . ./leave; done; echo after"],
    ["its number, which is its own", 'kill -0 $$ && echo here; [ "$(ps -o ppid= -p $$)" -eq $PPID ]; echo $?'],
    ["nothing", ""],
    ["a remark", "# nothing"],
  ])("does what a shell of its own does with %s", async (_, command) => {
    await waitsForCommand();
    const { content, exitCode, errorCode } = await run(command);
    const own = await runAlone(command);
    expect({ content, exitCode, errorCode }).toEqual({ content: own.content, exitCode: own.exitCode, errorCode: own.errorCode });
  });

  it("tells a broken command's error, and goes on", async () => {
    await waitsForCommand();
    expect(await run("echo 'no end")).toMatchObject({ exitCode: 2, content: expect.stringContaining("Unterminated quoted string") });
    expect((await run("echo fine")).content).toBe("fine\n");
  });

  it("hands nothing on from one command to the next", async () => {
    await waitsForCommand();
    const look = `${OWN_ARGUMENTS} >/dev/null; pwd; umask; ulimit -n; set; alias; trap; hash; type later 2>&1`;
    const before = (await run(look)).content;
    const change =
      "cd /tmp; umask 077; ulimit -n 64; set -x -f; own=1; export PATH=/nowhere; IFS=x; alias ls=false; trap 'echo bye' EXIT; later() { :; }; exec 2>&1 </dev/zero";
    expect((await run(change)).content).toContain("bye");
    expect((await run(look)).content).toBe(before);
  });

  it.each([
    ["shut its output down", "node -e 'process.stdout.end(`x`)'"],
    ["shut its error output down", "node -e 'process.stderr.end(`x`)'"],
    ["had its output not wait for its reader", "python3 -c 'import os; os.set_blocking(1, False)'"],
    ["had its error output not wait for its reader", "timeout 0.3 node -e 'console.error(1); setInterval(() => {}, 999)'"],
  ])("is not given the next command after one that %s", async (_, command) => {
    await waitsForCommand();
    await run(command);
    const much = "seq 1 60000 >&2; seq 1 60000; echo end: $?";
    const { content, exitCode } = await run(much);
    expect({ exitCode, end: content.slice(-19) }).toEqual({ exitCode: 0, end: "59999\n60000\nend: 0\n" });
  });

  it("is not given the next command while something of the last one goes on, which could print into its output", async () => {
    await waitsForCommand();
    expect((await run("(trap '' PIPE; while [ ! -e go ]; do sleep 0.01; done; echo from before; touch gone) & echo started")).content).toBe(
      "started\n",
    );
    expect((await run("touch go; while [ ! -e gone ]; do sleep 0.01; done; echo own")).content).toBe("own\n");
  });

  it("serves again once what was left behind has ended", async () => {
    await waitsForCommand();
    await run("sleep 64 >/dev/null 2>&1 & echo started");
    expect((await runAlone("pkill -x sleep")).exitCode).toBe(0);
    await waitsForCommand();
    expect((await run(OWN_ARGUMENTS)).content).toMatch(RESIDENT);
  });

  it("that was ended by an earlier command is not given another", async () => {
    await waitsForCommand();
    await runAlone("pkill -9 -f 'IFS= read'");
    expect((await run("echo still here")).content).toBe("still here\n");
  });

  it("takes the rest of a command that ends it along", async () => {
    await waitsForCommand();
    expect(await run(`kill -9 ${SHELL}; sleep 65`)).toMatchObject({
      errorCode: "command_failed",
      content: expect.stringContaining("SIGKILL"),
    });
    expect((await runAlone("pgrep -x sleep")).exitCode).toBe(1);
  });

  it("is made anew after a call that was cut off, with which the last one was ended", async () => {
    await sandbox.run("shell_exec", { command: "echo begun; sleep 63", timeout_seconds: 1 });
    await waitsForCommand();
    expect((await run(OWN_ARGUMENTS)).content).toMatch(RESIDENT);
  });

  it("has its command and what that started ended when the call is cancelled", async () => {
    await waitsForCommand();
    const leaving = new AbortController();
    const command = "echo begun; sleep 61 & sleep 62";
    const result = await sandbox.run("shell_exec", { command }, { signal: leaving.signal, onOutput: () => leaving.abort() });
    expect(result).toMatchObject({ errorCode: "cancelled", content: expect.stringContaining("begun") });
    expect((await run("pgrep -x sleep")).exitCode).toBe(1);
  });
});
