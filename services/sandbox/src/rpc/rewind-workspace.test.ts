import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { randomUUID } from "node:crypto";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { useTestService } from "../testing/use-test-service.ts";

const ACTIONS = ["", "CREATE", "CHANGE", "DELETE"];
const service = useTestService();

async function openSession() {
  const { sessionId, workspace } = await service.open();
  const runId = randomUUID();
  const rewound = async (turns: readonly number[], more: { preview?: boolean; overwrite?: boolean } = {}) =>
    service.client.rewindWorkspace(
      { sessionId, turns: turns.map((turn) => ({ runId, turn })), ...more },
      await service.headersOf(testPrincipal),
    );
  return {
    workspace,
    sessionId,
    rewound,
    reopen: async () => service.client.openWorkspace({ sessionId, path: workspace }, await service.headersOf(testPrincipal)),
    at: (path: string) => join(workspace, path),
    shell: (turn: number, command: string) => service.execute({ sessionId, runId, turn, tool: "shell_exec", given: { command } }),
    write: (turn: number, path: string, content: string) =>
      service.execute({ sessionId, runId, turn, tool: "write_file", given: { path, content } }),
    rewind: async (...given: Parameters<typeof rewound>) => {
      const { paths } = await rewound(...given);
      return paths.map(({ path, action, changedByOthers, failure }) => [path, ACTIONS[action], changedByOthers, failure] as const);
    },
  };
}

describe("RewindWorkspace", () => {
  it("puts back what calls of the turns did, a shell's effects, links and modes included", async () => {
    const { workspace, at, shell, write, rewind } = await openSession();
    mkdirSync(at("src/deep"), { recursive: true });
    writeFileSync(at("src/kept.txt"), "kept");
    writeFileSync(at("src/deep/tool.sh"), "echo one", { mode: 0o755 });
    symlinkSync("src/kept.txt", at("link"));
    execFileSync("git", ["init", "-q", workspace]);
    const before = execFileSync("git", ["-C", workspace, "status", "--porcelain", "--ignored"]).toString();

    expect((await shell(1, "rm -r src/deep; ln -sfn /etc/passwd link; mkdir new; echo x > new/file")).success).toBe(true);
    await write(2, "src/kept.txt", "changed");
    expect(await rewind([1, 2], { preview: true })).toEqual([
      ["link", "CHANGE", false, ""],
      ["new", "DELETE", false, ""],
      ["new/file", "DELETE", false, ""],
      ["src/deep", "CREATE", false, ""],
      ["src/deep/tool.sh", "CREATE", false, ""],
      ["src/kept.txt", "CHANGE", false, ""],
    ]);
    expect(readFileSync(at("src/kept.txt"), "utf8")).toBe("changed");
    expect(await rewind([2])).toEqual([["src/kept.txt", "CHANGE", false, ""]]);
    expect((await rewind([1, 2])).map(([, , , failure]) => failure)).toEqual(["", "", "", "", ""]);
    expect(readFileSync(at("src/kept.txt"), "utf8")).toBe("kept");
    expect([readFileSync(at("src/deep/tool.sh"), "utf8"), lstatSync(at("src/deep/tool.sh")).mode & 0o777]).toEqual(["echo one", 0o755]);
    expect([readlinkSync(at("link")), existsSync(at("new"))]).toEqual(["src/kept.txt", false]);
    expect(execFileSync("git", ["-C", workspace, "status", "--porcelain", "--ignored"]).toString()).toBe(before);
    expect(await rewind([3])).toEqual([]);
  });

  it("leaves alone what others changed since, unless that is asked for", async () => {
    const { at, shell, write, rewind } = await openSession();
    writeFileSync(at("mine"), "1");
    await write(1, "mine", "agent");
    await shell(1, "echo agent > other");
    expect((await rewind([1], { preview: true })).map(([path, , byOthers]) => [path, byOthers])).toEqual([
      ["mine", false],
      ["other", false],
    ]);
    writeFileSync(at("mine"), "by hand");
    writeFileSync(at("new"), "by hand");
    expect(await rewind([1])).toEqual([
      ["mine", "CHANGE", true, ""],
      ["new", "DELETE", true, ""],
      ["other", "DELETE", false, ""],
    ]);
    expect([readFileSync(at("mine"), "utf8"), existsSync(at("new")), existsSync(at("other"))]).toEqual(["by hand", true, false]);
    await rewind([1], { overwrite: true });
    expect([readFileSync(at("mine"), "utf8"), existsSync(at("new"))]).toEqual(["1", false]);
  });

  it("goes back after the service was started anew, past a line of the journal that was cut", async () => {
    const { at, shell, rewind, reopen, sessionId } = await openSession();
    writeFileSync(at("a"), "1");
    await shell(1, "echo 2 > a");
    expect(await rewind([1], { preview: true })).toEqual([["a", "CHANGE", false, ""]]);
    await service.restart();
    appendFileSync(join(service.stateDirectory, "checkpoints", sessionId, "journal"), '{"turn":"cut');
    await reopen();
    expect(await rewind([1])).toEqual([["a", "CHANGE", false, ""]]);
    expect(readFileSync(at("a"), "utf8")).toBe("1");
    await shell(2, "echo 3 > a");
    expect(await rewind([2])).toEqual([["a", "CHANGE", false, ""]]);
  });

  it("says so where what it kept of the first of the turns is gone, since it had no room left", async () => {
    const { at, shell, rewound, reopen, sessionId } = await openSession();
    writeFileSync(at("a"), "1");
    await shell(1, "echo 2 > a");
    expect((await rewound([1, 2], { preview: true })).incomplete).toBe(false);
    await service.restart();
    // Filled beyond what a session may have: a pack of a content of which nobody has more than its length.
    const full = { turn: "", set: [], same: [], gone: [], kept: [["0".repeat(64), 7, 0, 1024 ** 3]] };
    appendFileSync(join(service.stateDirectory, "checkpoints", sessionId, "journal"), `${JSON.stringify(full)}\n`);
    await reopen();
    await shell(2, "echo 3 > a");
    expect((await rewound([1, 2], { preview: true })).incomplete).toBe(true);
    expect(await rewound([2])).toMatchObject({ incomplete: false, paths: [{ path: "a" }] });
    expect(readFileSync(at("a"), "utf8")).toBe("2\n");
  });

  it("says so where a file was too large to be kept, and where something runs it waits to be asked again", async () => {
    const { at, shell, rewind } = await openSession();
    writeFileSync(at("large"), Buffer.alloc(17 * 1024 * 1024));
    await shell(1, "rm large");
    expect(await rewind([1])).toEqual([["large", "CREATE", false, expect.stringContaining("was not kept")]]);
    const running = shell(2, "echo begun > begun; sleep 0.5");
    await expect.poll(() => existsSync(at("begun"))).toBe(true);
    await expect(rewind([2])).rejects.toThrow("Something still runs in the workspace");
    await running;
  });

  it.each([
    ["a file", (git: string) => writeFileSync(git, "gitdir: /etc\n")],
    ["a link", (git: string) => symlinkSync("/etc", git)],
    ["another repository", (git: string) => execFileSync("git", ["init", "-q", "--separate-git-dir", `${git}-elsewhere`, join(git, "..")])],
  ])("goes back all the same where .git has become %s since, and leaves it as it is", async (_, replace) => {
    const { workspace, at, shell, rewind } = await openSession();
    execFileSync("git", ["init", "-q", workspace]);
    writeFileSync(at("a"), "1");
    writeFileSync(at(".gitattributes"), "a filter=x");
    await shell(1, "echo 2 > a; echo x > b");
    rmSync(at(".git"), { recursive: true });
    replace(at(".git"));
    const { mode, ino } = lstatSync(at(".git"));
    const etc = lstatSync("/etc").mtimeMs;
    const paths = await rewind([1]);
    expect(paths.filter(([path]) => !path.startsWith(".git"))).toEqual([
      ["a", "CHANGE", false, ""],
      ["b", "DELETE", false, ""],
    ]);
    expect([readFileSync(at("a"), "utf8"), existsSync(at("b"))]).toEqual(["1", false]);
    expect(lstatSync(at(".git"))).toMatchObject({ mode, ino });
    expect(lstatSync("/etc").mtimeMs).toBe(etc);
  });

  it("reads nothing outside by way of links", async () => {
    const { at, shell, rewind } = await openSession();
    writeFileSync(at("a"), "1");
    symlinkSync("/etc", at("etc"));
    writeFileSync(at("__proto__"), "1");
    await shell(1, "echo 2 > a; echo 2 > __proto__; mkdir d; chmod 700 d");
    rmSync(at("d"), { recursive: true });
    symlinkSync("/", at("d"));
    chmodSync(at("a"), 0o644);
    const paths = await rewind([1], { overwrite: true });
    expect(paths.map(([path]) => path)).toEqual(["__proto__", "a", "d"]);
    expect([readFileSync(at("a"), "utf8"), existsSync(at("d")), readlinkSync(at("etc"))]).toEqual(["1", false, "/etc"]);
  });
});
