import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { installedHook, installHook, uninstallHook } from "./install-hook.ts";
import type { HookPlace } from "./hook-place.ts";
import { InstallRecords } from "./install-record.ts";
import { HOOK_TOOLS, type HookTool } from "./hook-tool.ts";

/** As Claude Code and its person leave it. */
const REALISTIC = `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "model": "opus",
  "env": { "GH_TOKEN": "gh\\u0070_secret", "MAX": "1" },
  "permissions": {
    "allow": ["Bash(npm run test:*)", "WebFetch(domain:docs.rs)"],
    "defaultMode": "acceptEdits"
  },
  "cleanupPeriodDays": 1e2,
  "exact": [12345678901234567890, 1.0, -0, 0.10],
  "__proto__": { "kept": true },
  "statusLine": { "type": "command", "command": "~/.claude/statusline.sh" },
  "hooks": {
    "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "/usr/local/bin/log-prompt 'hlvm'", "timeout": 3 }] }],
    "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "check \\"$CLAUDE_PROJECT_DIR\\"" }] }],
    "Stop": []
  }
}`;

let place: HookPlace;
let home: string;
let records: InstallRecords;

beforeEach(() => {
  const folder = temporaryFolder();
  home = join(folder, "it's hlvm");
  place = placeIn(folder, "claude-code");
  records = new InstallRecords(home);
});

function placeIn(folder: string, tool: HookTool): HookPlace {
  mkdirSync(join(folder, "tool"), { recursive: true });
  return { tool, name: tool, folder, settings: join(folder, "tool", "settings.json"), transcripts: join(folder, "projects") };
}

const install = (isLive = false): string => installHook(place, { isLive, home }, records);
const uninstall = (): string => uninstallHook(place, records);
const text = (): string => readFileSync(place.settings, "utf8");
const json = (): Record<string, unknown> => JSON.parse(text()) as Record<string, unknown>;

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof HlvmError) return thrown.reason;
  }
  return "";
}

describe("a hook that is installed and taken out again", () => {
  it.each([
    ["as it is", REALISTIC],
    ["with a last line's end", `${REALISTIC}\n`],
    ["of Windows", REALISTIC.replaceAll("\n", "\r\n")],
    ["indented by tabs", REALISTIC.replaceAll(/^( {2})+/gm, (blanks) => "\t".repeat(blanks.length / 2))],
    ["in one line", '{"hooks":{}}'],
    ["of nothing", "{}\n\n  "],
    ["behind a byte order mark", `\ufeff${REALISTIC}`],
  ])("leaves settings %s as they were, to the last byte", (_, before) => {
    writeFileSync(place.settings, before);
    expect(install()).toBe("installed");
    expect(installedHook(place)).toMatchObject({ isLive: false });
    expect(uninstall()).toBe("restored");
    expect(text()).toBe(before);
    expect(readdirSync(dirname(place.settings))).toEqual(["settings.json"]);
    expect(readdirSync(join(home, "hooks"))).toEqual([]);
  });

  it("keeps the mark that Claude Code reads on behind", () => {
    writeFileSync(place.settings, "\ufeff{}");
    install();
    expect(text().slice(0, 2)).toBe("\ufeff{");
  });

  it("keeps all else, numbers that JavaScript cannot hold too", () => {
    writeFileSync(place.settings, REALISTIC);
    install();
    const { hooks, ...rest } = json() as { hooks: Record<string, { hooks: { command: string }[] }[]> };
    const { hooks: hooksBefore, ...restBefore } = JSON.parse(REALISTIC) as typeof rest & { hooks: typeof hooks };
    expect(rest).toEqual(restBefore);
    expect(Object.hasOwn(rest, "__proto__")).toBe(true);
    expect(text()).toMatch(/12345678901234567890,\s+1\.0,\s+-0,\s+0\.10/);
    expect(hooks.UserPromptSubmit).toHaveLength(2);
    expect(hooks.UserPromptSubmit!.slice(0, 1)).toEqual(hooksBefore.UserPromptSubmit);
    expect(hooks).toMatchObject({ PreToolUse: hooksBefore.PreToolUse, Stop: [] });
    expect(hooks.SessionStart![0]!.hooks[0]!.command).toMatch(/^'\/.*\/hlvm' hook run --tool claude-code --home '.*it'\\''s hlvm'$/);
  });

  it("is there once however often it is installed, and one mode takes the place of the other", () => {
    writeFileSync(place.settings, REALISTIC);
    expect([install(), install(), install(true), install(true)]).toEqual(["installed", "unchanged", "changed", "unchanged"]);
    expect(text().split("hook run --tool").length - 1).toBe(2);
    expect(installedHook(place).isLive).toBe(true);
    expect(uninstall()).toBe("restored");
    expect(text()).toBe(REALISTIC);
    expect(uninstall()).toBe("not-there");
    expect(text()).toBe(REALISTIC);
  });

  it.each(HOOK_TOOLS)("makes the settings of %s where there are none, and they are gone afterwards", (tool) => {
    place = placeIn(temporaryFolder(), tool);
    install(true);
    expect(statSync(place.settings).mode & 0o777).toBe(0o600);
    const { version } = json();
    expect(version).toBe(tool === "cursor" ? 1 : undefined);
    expect(uninstall()).toBe("restored");
    expect(existsSync(place.settings)).toBe(false);
    // The same where another program has written them once more meanwhile.
    install();
    writeFileSync(place.settings, JSON.stringify(json()));
    expect(uninstall()).toBe("taken-out");
    expect(existsSync(place.settings)).toBe(false);
  });

  it("leaves what somebody changed meanwhile, in our own group too", () => {
    writeFileSync(place.settings, REALISTIC);
    install();
    const changed = json() as { model: string; hooks: { SessionStart: { hooks: object[] }[] } };
    const theirs = { type: "command", command: "date" };
    changed.model = "haiku";
    changed.hooks.SessionStart[0]!.hooks.push(theirs);
    writeFileSync(place.settings, JSON.stringify(changed, undefined, 4));
    // What they have by now is what it goes back to.
    expect(install(true)).toBe("changed");
    expect(uninstall()).toBe("restored");
    // Whoever wrote it meanwhile kept no minus before a zero.
    const before = JSON.parse(REALISTIC.replace("-0", "0")) as { hooks: object };
    expect(json()).toEqual({ ...before, model: "haiku", hooks: { ...before.hooks, SessionStart: [{ hooks: [theirs] }] } });
    expect(text()).toContain('\n    "model"');
  });

  it("comes out where its own record is lost", () => {
    writeFileSync(place.settings, REALISTIC);
    install();
    rmSync(home, { recursive: true });
    expect(uninstall()).toBe("taken-out");
    expect(json()).toEqual(JSON.parse(REALISTIC));
  });

  it("follows a link, which stays one, and keeps the mode", () => {
    const target = join(dirname(place.settings), "dotfiles.json");
    writeFileSync(target, REALISTIC);
    chmodSync(target, 0o644);
    symlinkSync("dotfiles.json", place.settings);
    install();
    expect([readlinkSync(place.settings), lstatSync(target).isFile(), statSync(target).mode & 0o777]).toEqual([
      "dotfiles.json",
      true,
      0o644,
    ]);
    uninstall();
    expect(readFileSync(target, "utf8")).toBe(REALISTIC);
    rmSync(target);
    expect(refusal(install)).toBe("settings_not_readable");
    expect(existsSync(target)).toBe(false);
  });

  it.each(["", "{", "[]", "null", '"x"', "// mine\n{}", '{"a":1,}', '{"hooks":[]}', '{"hooks":{"SessionStart":{}}}'])(
    "refuses settings that are none and changes nothing: %j",
    (before) => {
      writeFileSync(place.settings, before);
      expect([refusal(install), refusal(uninstall)]).toEqual(["settings_not_readable", "settings_not_readable"]);
      expect(text()).toBe(before);
      expect(existsSync(home)).toBe(false);
    },
  );

  it("refuses bytes that are no text", () => {
    const before = Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]);
    writeFileSync(place.settings, before);
    expect(refusal(install)).toBe("settings_not_readable");
    expect(readFileSync(place.settings).equals(before)).toBe(true);
  });

  it("can still be taken out to the last byte where the other mode could not be written", () => {
    writeFileSync(place.settings, REALISTIC);
    const inTheWay = `${place.settings}.hlvm-${process.pid}`;
    mkdirSync(inTheWay);
    expect(refusal(install)).toBe("settings_not_writable");
    expect([text(), readdirSync(join(home, "hooks"))]).toEqual([REALISTIC, []]);
    rmSync(inTheWay, { recursive: true });
    install();
    mkdirSync(inTheWay);
    expect(refusal(() => install(true))).toBe("settings_not_writable");
    rmSync(inTheWay, { recursive: true });
    expect(installedHook(place).isLive).toBe(false);
    expect(uninstall()).toBe("restored");
    expect(text()).toBe(REALISTIC);
  });

  it("writes no path into a command that could end its line", () => {
    home = join(home, "a\nb");
    expect(refusal(install)).toBe("path_not_usable");
    expect(existsSync(place.settings)).toBe(false);
  });

  it("holds for any settings", () => {
    const entry = fc.oneof(
      fc.record({ hooks: fc.array(fc.record({ type: fc.constant("command"), command: fc.string() }), { maxLength: 3 }) }),
      fc.record({ command: fc.string() }),
      fc.constantFrom(null, 7, "x", {}),
    );
    const hooks = fc.dictionary(
      fc.constantFrom("UserPromptSubmit", "SessionStart", "sessionStart", "Stop"),
      fc.array(entry, { maxLength: 3 }),
    );
    const settings = fc.record({ hooks, other: fc.jsonValue() }, { requiredKeys: [] });
    fc.assert(
      fc.property(settings, fc.constantFrom(...HOOK_TOOLS), fc.constantFrom(undefined, 2, "\t"), (value, tool, indent) => {
        place = placeIn(dirname(dirname(place.settings)), tool);
        const before = JSON.stringify(value, undefined, indent);
        writeFileSync(place.settings, before);
        install();
        const { hooks: _, ...kept } = json();
        const { hooks: __, ...known } = JSON.parse(before) as Record<string, unknown>;
        expect({ version: 1, ...kept }).toEqual({ version: 1, ...known });
        expect(uninstall()).toBe("restored");
        expect(text()).toBe(before);
      }),
      { numRuns: 200 },
    );
  });
});
