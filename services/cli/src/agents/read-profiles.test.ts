import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ProfileSource } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { parseProfile } from "./parse-profile.ts";
import { readProfiles } from "./read-profiles.ts";

const front = (...lines: readonly string[]): string => `---\n${lines.join("\n")}\n---\n`;
const file = { path: "a.md", source: ProfileSource.PERSON, isClaude: false };
const wrong = (text: string, isClaude = false): string[] =>
  parseProfile({ ...file, text, isClaude }).mistakes.map(({ line, message }) => `${line}: ${message}`);

describe("parseProfile", () => {
  it("reads front matter and the instructions below it", () => {
    const text = `${front("name: reviewer", "description: Reviews", "tools:", "  - read_file", "  - git_*", "temperature: 0.1", "maxTokens: 900", "model: a/b", "instructions: First.", "workers: [explore]")}\n## Then\nmore\n`;
    const { profile, mistakes } = parseProfile({ ...file, text });
    expect(mistakes).toEqual([]);
    expect(profile).toMatchObject({
      name: "reviewer",
      tools: { tools: ["read_file", "git_*"] },
      temperature: 0.1,
      maximumOutputTokens: 900,
      model: "a/b",
      instructions: "First.\n\n## Then\nmore",
      canSpawn: true,
      workers: ["explore"],
    });
  });

  it("reads Claude Code's: its names of tools, words between commas, none for all, and nothing that widens", () => {
    const text = front(
      "name: checker",
      "description: Checks",
      "tools: Read, Grep, Bash, Bash(git *), WebFetch, mcp__x__y, Task(explore, plan)",
      "model: sonnet",
      "permissionMode: bypassPermissions",
      "color: red",
    );
    const { profile, mistakes } = parseProfile({ ...file, text, isClaude: true });
    expect(profile!.tools!.tools).toEqual(["read_file", "file_stats", "search_code", "shell_exec", "list_processes", "stop_process"]);
    expect([profile!.workers, profile!.canSpawn, profile!.model]).toEqual([["explore", "plan"], true, ""]);
    expect(mistakes.map(({ message, isFatal }) => [message.split(":", 1)[0], isFatal])).toEqual([
      ["permissionMode is not used here", false],
      ["color is not used here", false],
      ["Bash(git *) is left out", false],
      ["WebFetch is left out", false],
      ["mcp__x__y is left out", false],
      ['"sonnet" is no provider/name as `hlvm model list` has them; the run\'s own model is taken', false],
    ]);
    const all = parseProfile({
      ...file,
      text: front("name: all", "description: d", "disallowedTools: Bash, Write"),
      isClaude: true,
    }).profile!;
    expect(all.tools!.tools).toContain("edit_file");
    for (const tool of ["shell_exec", "write_file"]) expect(all.tools!.tools).not.toContain(tool);
    expect(parseProfile({ ...file, text: front("name: all", "description: d"), isClaude: true }).profile!.tools).toBeUndefined();
  });

  it("takes what stands for a model too", () => {
    for (const model of ["auto", "route/fast", "local/small"])
      expect(parseProfile({ ...file, text: front("name: x", "description: d", "tools: [read_file]", `model: ${model}`) })).toMatchObject({
        profile: { model },
        mistakes: [],
      });
  });

  it("says in which line what is wrong", () => {
    expect(wrong("no front matter")).toEqual(["1: it does not begin with front matter between two lines of ---"]);
    expect(wrong(front("name: x", "tools: [a", "description: d"))[0]).toMatch(/^[34]: the front matter is no YAML/);
    expect(wrong(front("- a"))).toEqual(["2: the front matter is not a list of keys and values"]);
    expect(wrong(front("description: d", "tools: [read_file, sorcery]"))).toEqual(["1: it has no name", '3: there is no tool "sorcery"']);
    expect(wrong(front("name: x", "description: d"))).toEqual(["1: it has no tools; name those that it may use"]);
    expect(wrong(front("name: x", "description: d", "tools: [read_file]", "workers: [x]"))).toEqual([
      "5: it lists itself as a worker of its own",
    ]);
    expect(wrong(front("name: explore", "description: d", "tools: [shell_exec]"))).toEqual([
      "2: explore is the name of a profile that comes with HLVM",
    ]);
    expect(wrong(front("name: X y", "description: d", "tools: [read_file]", "temperature: hot", "model: best"))).toEqual([
      '2: "X y" is no name: it takes small letters, digits and hyphens, at most 64',
      '6: "best" is no provider/name as `hlvm model list` has them',
      "5: temperature is no number from 0 to 2",
    ]);
    expect(wrong(front("name: x", "name: y", "description: d", "tools: [read_file]"))[0]).toContain("3: the front matter is no YAML");
  });

  it("never throws, and never gives a tool that nobody named", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "name: a",
        "description: d",
        "tools: [Read]",
        "tools: &x [*x, *x]",
        "workers: [a]",
        "---",
        "? {a: b}",
        "!!binary x",
        "\u0000",
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), fc.boolean(), (lines, isClaude) => {
        const { profile } = parseProfile({ ...file, text: front(...lines), isClaude });
        const named = profile?.tools?.tools ?? [];
        expect(named.filter((tool) => !["read_file", "file_stats"].includes(tool))).toEqual([]);
      }),
    );
  });
});

describe("readProfiles", () => {
  const reader = (name: string): string => front(`name: ${name}`, "description: d", "tools: [read_file]");

  it("has ours first, then the person's, then the workspace's, and tells of every file that it leaves out", async () => {
    const [directory, workspace, outside] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    const write = (folder: string, name: string, content: string | Uint8Array): void => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), content);
    };
    write(join(directory, "agents"), "mine.md", reader("mine"));
    const ours = join(workspace, ".hlvm/agents");
    write(ours, "a.md", reader("theirs"));
    write(ours, "b.md", reader("mine"));
    write(ours, "c.md", new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]));
    write(ours, "d.md", `${reader("large")}${"x".repeat(61 * 1024)}`);
    write(outside, "secret.md", reader("secret"));
    symlinkSync(join(outside, "secret.md"), join(ours, "e.md"));
    symlinkSync("a.md", join(ours, "f.md"));
    execFileSync("mkfifo", [join(ours, "g.md")]);
    write(ours, "h.md", front("name: leader", "description: d", "tools: [read_file]", "workers: [theirs]"));
    write(join(workspace, ".claude/agents"), "i.md", front("name: claude", "description: d", "tools: Read"));
    const { profiles, mistakes } = await readProfiles(directory, workspace);
    expect(profiles.slice(-3).map(({ name, source }) => [name, source])).toEqual([
      ["mine", ProfileSource.PERSON],
      ["theirs", ProfileSource.WORKSPACE],
      ["claude", ProfileSource.WORKSPACE],
    ]);
    expect(mistakes.map(({ path, message }) => `${path.split("/").at(-1)}: ${message.replace(/ taken by .*/, " taken")}`)).toEqual([
      "b.md: the name mine is taken",
      "c.md: it is not UTF-8",
      "d.md: it is larger than 60 KiB",
      "e.md: it is a link that leads out of the folder",
      "f.md: the name theirs is taken",
      "g.md: it is no file",
      'h.md: there is no profile "theirs" that its workers could have',
    ]);
  });

  it("does not go through a folder that is a link out of the workspace", async () => {
    const [workspace, outside] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(join(outside, "x.md"), reader("x"));
    mkdirSync(join(workspace, ".hlvm"));
    symlinkSync(outside, join(workspace, ".hlvm/agents"));
    const { mistakes } = await readProfiles(temporaryFolder(), workspace);
    expect(mistakes.map(({ message }) => message)).toEqual(["it is a link that leads out of the folder"]);
  });
});
