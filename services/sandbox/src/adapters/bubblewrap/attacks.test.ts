import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findTestBubblewrap } from "../../testing/find-test-bubblewrap.ts";
import { openTestSandbox, type TestSandbox } from "../../testing/open-test-sandbox.ts";

let sandbox: TestSandbox;
let outside: string;
const shell = (command: string) => sandbox.run("shell_exec", { command });

beforeAll(async () => {
  process.env.HLVM_TEST_SECRET = "do-not-leak";
  outside = mkdtempSync(join(tmpdir(), "hlvm-outside-"));
  writeFileSync(join(outside, "secret.txt"), "secret");
  sandbox = await openTestSandbox();
});
afterAll(async () => {
  delete process.env.HLVM_TEST_SECRET;
  await sandbox.close();
  rmSync(outside, { recursive: true });
});

describe("paths out of the workspace", () => {
  it("22: a link made inside is not written through", async () => {
    expect((await shell("ln -s /etc x && ln -s /tmp t")).success).toBe(true);
    for (const path of ["x/f", "x/passwd", "t/f", "t/new/f"])
      expect(await sandbox.run("write_file", { path, content: "x" })).toMatchObject({ success: false, errorCode: "outside_workspace" });
    expect((await shell("ls -A /tmp")).content).toBe("[no output]");
  });

  it("23: a folder whose name begins like the workspace is not the workspace", async () => {
    for (const path of ["/workspace-evil/f", "../workspace-evil/f", `${sandbox.workspace}-evil/f`]) {
      expect(await sandbox.run("read_file", { path })).toMatchObject({ success: false, errorCode: "outside_workspace" });
      expect(await sandbox.run("write_file", { path, content: "x" })).toMatchObject({ success: false, errorCode: "outside_workspace" });
    }
  });

  it("24: links out of the workspace are refused by every tool that takes a path", async () => {
    mkdirSync(join(sandbox.workspace, "real"));
    symlinkSync("/usr/lib/os-release", join(sandbox.workspace, "os"));
    symlinkSync("/usr", join(sandbox.workspace, "usr"));
    symlinkSync("../../../usr", join(sandbox.workspace, "real/up"));
    symlinkSync("usr", join(sandbox.workspace, "twice"));
    for (const path of ["os", "usr/lib/os-release", "real/up/lib/os-release", "twice/lib/os-release"]) {
      for (const tool of ["read_file", "file_stats"])
        expect(await sandbox.run(tool, { path }), `${tool} ${path}`).toMatchObject({ success: false, errorCode: "outside_workspace" });
      expect(await sandbox.run("write_file", { path, content: "x" })).toMatchObject({ success: false, errorCode: "outside_workspace" });
      expect(await sandbox.run("edit_file", { path, old_text: "a", new_text: "b" })).toMatchObject({ errorCode: "outside_workspace" });
      expect(await sandbox.run("search_code", { pattern: "a", path })).toMatchObject({ errorCode: "outside_workspace" });
    }
    for (const path of ["usr", "real/up", "twice"])
      expect(await sandbox.run("list_files", { path })).toMatchObject({ errorCode: "outside_workspace" });
    expect((await sandbox.run("search_code", { pattern: "Debian" })).summary).toBe("no match");
  });

  it("25: a link to a file is judged by the file", async () => {
    symlinkSync(join(outside, "secret.txt"), join(sandbox.workspace, "to-secret"));
    const result = await sandbox.run("read_file", { path: "to-secret" });
    expect(result.success).toBe(false);
    expect(result.content).not.toContain("secret.txt has");
  });

  it("26: a folder that is swapped for a link while tools use it lets nothing through", async () => {
    const swap =
      "mkdir -p swap && echo inside >swap/f; i=0; while [ $i -lt 200 ]; do mv -T swap kept$i; ln -s /etc swap; rm -rf swap; mv -T kept$i swap; i=$((i+1)); done 2>/dev/null; echo over";
    const over = new AbortController();
    const swapping = shell(swap).finally(() => over.abort());
    const seen = new Set<string>();
    while (!over.signal.aborted) {
      const [read, write] = await Promise.all([
        sandbox.run("read_file", { path: "swap/passwd" }),
        sandbox.run("write_file", { path: "swap/hlvm-escape", content: "x" }),
      ]);
      for (const result of [read, write]) seen.add(result.success ? "" : result.errorCode);
      expect(read.success).toBe(false);
    }
    expect((await swapping).content).toBe("over\n");
    expect([...seen].every((code) => ["", "not_found", "outside_workspace", "not_readable"].includes(code))).toBe(true);
    expect((await shell("ls /etc")).content).not.toContain("hlvm-escape");
  });

  it("30: a working directory out of the workspace is refused", async () => {
    for (const directory of ["..", "/", "/tmp", "x", "a/../../etc"])
      expect(await sandbox.run("shell_exec", { command: "pwd", working_directory: directory })).toMatchObject({
        success: false,
        errorCode: "outside_workspace",
      });
  });

  it("28: a link in the workspace at set-up sends no write outside", async () => {
    const folder = mkdtempSync(join(tmpdir(), "hlvm-trap-"));
    for (const name of ["evil", "tmp", "home", "opt", "etc"]) symlinkSync(`/oldroot${outside}`, join(folder, name));
    const trap = await openTestSandbox({}, folder);
    await trap.close();
    expect(execFileSync("ls", ["-A", outside], { encoding: "utf8" })).toBe("secret.txt\n");
  });

  it("32: other processes, homes and system secrets cannot be read", async () => {
    const found = await shell(
      "cat /proc/1/root/etc/hostname /proc/1/environ ~/.ssh/* /root/* /home/* /etc/shadow /etc/hostname; ls /proc | grep -c '^[0-9]'",
    );
    expect(found.content).not.toContain("do-not-leak");
    const lines = found.content.split("\n").filter((line) => !/No such file|Permission denied|Is a directory|cannot|can't/.test(line));
    expect(Number(lines[0])).toBeLessThan(12);
    expect(lines.slice(1)).toEqual([""]);
    expect((await sandbox.run("read_file", { path: "/proc/1/environ" })).errorCode).toBe("outside_workspace");
    expect((await shell(`cat ${outside}/secret.txt`)).success).toBe(false);
  });
});

describe("a workspace whose path leads to another folder by now", () => {
  let project: string;
  let workspace: string;
  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), "hlvm-project-"));
    workspace = join(project, "sub");
    mkdirSync(workspace);
  });
  afterEach(() => rmSync(project, { recursive: true }));

  it("is not bound again: another session, on the folder above, may have put a link there", async () => {
    const victim = await openTestSandbox({}, workspace);
    expect((await victim.run("shell_exec", { command: "echo kept > kept" })).success).toBe(true);
    await victim.stop();
    renameSync(workspace, join(project, "moved"));
    symlinkSync(outside, workspace);
    await expect(victim.run("shell_exec", { command: "cat secret.txt" })).rejects.toMatchObject({
      reason: "workspace_replaced",
      message: expect.stringContaining(workspace),
    });
    rmSync(workspace);
    renameSync(join(project, "moved"), workspace);
    expect((await victim.run("shell_exec", { command: "ls" })).content).toBe("kept\n");
    await victim.close();
  });

  it("is not used where the link was put there while the sandbox was made", async () => {
    const bubblewrap = await findTestBubblewrap();
    const path = join(project, "bwrap");
    const swap = `mv ${workspace} ${project}/moved && ln -s ${outside} ${workspace}`;
    writeFileSync(path, `#!/bin/sh\nPATH=/usr/bin:/bin\n[ -e ${project}/armed ] && ${swap}\nexec ${bubblewrap.path} "$@"\n`, {
      mode: 0o755,
    });
    const victim = await openTestSandbox({ bubblewrap: { ...bubblewrap, path } }, workspace);
    writeFileSync(join(project, "armed"), "");
    await expect(victim.run("shell_exec", { command: "cat secret.txt" })).rejects.toMatchObject({
      reason: "sandbox_not_started",
      message: expect.stringContaining("another folder has taken the place"),
    });
    await victim.close();
  });
});

describe("what a tool finds inside", () => {
  it("has a user of its own without capabilities, whatever user the service has", async () => {
    expect((await shell("id -u")).content).toBe("20000\n");
    const { content } = await shell("cat /proc/self/status");
    expect(content).toMatch(/^CapEff:\s+0+$/m);
    expect(content).toMatch(/^CapBnd:\s+0+$/m);
    expect(content).toMatch(/^NoNewPrivs:\s+1$/m);
  });

  it("inherits no variable and no descriptor of the service", async () => {
    expect((await shell("env; cat /proc/*/environ | tr '\\0' '\\n'")).content).not.toContain("HLVM_TEST_SECRET");
    const { content } = await shell("ls /proc/self/fd");
    // 3 is the folder itself, being read; what this process inherited without wanting it, the service closes at its start.
    const inherited = new Set(readdirSync("/proc/self/fd").map(Number));
    const own = content.trim().split("\n").map(Number);
    expect(own.filter((descriptor) => descriptor < 10 || !inherited.has(descriptor))).toEqual([0, 1, 2, 3]);
  });

  it("can write nowhere but in the workspace and in temporary folders", async () => {
    const folders = "/ /etc /usr /usr/bin /opt/hlvm /opt/hlvm/bin /dev /proc/sys/kernel";
    const { content } = await shell(
      `for d in ${folders}; do touch $d/new 2>/dev/null && echo wrote $d; done; for d in /tmp /dev/shm /workspace; do touch $d/new && echo wrote $d; done`,
    );
    expect(content).toBe("wrote /tmp\nwrote /dev/shm\nwrote /workspace\n");
  });

  it("can change no setting of the kernel, which root's own processes could without a capability", async () => {
    // Opened for writing and nothing written: were the test to fail, the machine would stay as it is.
    for (const file of ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/self/oom_score_adj", "/proc/$PPID/mem"])
      expect((await shell(`true >> ${file}`)).content).toMatch(/Read-only file system|Permission denied|nonexistent/);
    expect((await shell("find /proc -xdev -writable -not -type l 2>/dev/null | head")).content).toBe("[no output]");
  });

  it("has no network, and no way to a Unix socket in the workspace", async () => {
    const tcp = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => tcp.listen(0, "0.0.0.0", resolve));
    const unix = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => unix.listen(join(sandbox.workspace, "daemon.sock"), resolve));
    const { port } = tcp.address() as { port: number };
    const connect = (target: string): string =>
      `/opt/hlvm/bin/node -e 'require("net").connect(${target}).on("data",d=>console.log(String(d))).on("error",e=>console.log(e.code))'`;
    expect((await shell(connect(`${port},"127.0.0.1"`))).content).toBe("ECONNREFUSED\n");
    expect((await shell(connect(`80,"192.0.2.1"`))).content).toBe("ENETUNREACH\n");
    expect((await shell(connect(`80,"169.254.169.254"`))).content).toBe("ENETUNREACH\n");
    expect((await shell(connect(`"/workspace/daemon.sock"`))).content).toBe("EAFNOSUPPORT\n");
    tcp.close();
    unix.close();
  });

  it("reaches no datagram socket in the workspace by an end of a pair", async () => {
    const bound = join(sandbox.workspace, "datagrams.sock");
    const listen = `socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, pack_sockaddr_un("${bound}")); $| = 1; print "bound"; sleep`;
    const daemon = spawn("perl", ["-MSocket", "-e", listen], { stdio: ["ignore", "pipe", "inherit"] });
    await once(daemon.stdout, "data");
    const send = 'send(A, "x", 0, pack_sockaddr_un("/workspace/datagrams.sock")) and print "reached"';
    const attack = `socketpair(A, B, AF_UNIX, $_, 0) and ${send} for SOCK_DGRAM, SOCK_RAW; print "over"`;
    expect((await shell(`perl -MSocket -e '${attack}'`)).content).toBe("over");
    daemon.kill();
  });

  it("does not see what the service sees of its workspace's surroundings", async () => {
    expect(existsSync(join(sandbox.workspace, ".."))).toBe(true);
    expect((await shell("ls /workspace/..")).content).toBe("bin\ndev\netc\nhome\nlib\nlib64\nopt\nproc\nsbin\ntmp\nusr\nworkspace\n");
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });
});
