import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { readCliConfig } from "../config.ts";
import type { HookLogLine } from "./hook-log.ts";
import { hookPlace, type HookPlace } from "./hook-place.ts";
import { hookStatus } from "./hook-status.ts";
import type { HookTool } from "./hook-tool.ts";
import { installHook } from "./install-hook.ts";
import { InstallRecords } from "./install-record.ts";
import { switchedOff } from "./switched-off.ts";

const HOUR = 3_600_000;
let folder: string;
let records: InstallRecords;

beforeEach(() => {
  folder = temporaryFolder();
  records = new InstallRecords(join(folder, "hlvm"));
});

function placeOf(tool: HookTool): HookPlace {
  return hookPlace(tool, readCliConfig({ CLAUDE_CONFIG_DIR: folder, CODEX_HOME: folder }));
}

/** Installed so long ago. */
function installed(tool: HookTool, hours: number): HookPlace {
  const place = placeOf(tool);
  installHook(place, { isLive: true, home: join(folder, "hlvm") }, records);
  const record = records.read(place.settings)!;
  records.write(place.settings, { ...record, at: ago(hours) });
  return place;
}

const ago = (hours: number): string => new Date(Date.now() - hours * HOUR).toISOString();

function line(hours: number, ms: number): HookLogLine {
  const nothing = { facts: [], scores: [], shown: [], session: "", frame: "", would_inject: false };
  return {
    at: ago(hours),
    tool: "claude-code",
    event: "SessionStart",
    conversation: "c",
    live: true,
    decision: "injected",
    ms,
    ...nothing,
  };
}

function transcript(path: string, hours: number): void {
  const file = join(folder, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, "{}\n");
  utimesSync(file, new Date(ago(hours)), new Date(ago(hours)));
}

describe("the status of a hook", () => {
  it("tells mode, last event and times, and warns of nothing where all is well", () => {
    const place = installed("claude-code", 9);
    transcript("projects/-a/b.jsonl", 2);
    const log = [...Array.from({ length: 19 }, () => line(3, 40)), line(2, 300)];
    expect(hookStatus(place, log, records)).toMatchObject({
      found: true,
      mode: "live",
      events: 20,
      p50: 40,
      p95: 300,
      last: log[19],
      warnings: [],
    });
  });

  it("warns where a conversation began since the hook was heard last", () => {
    const place = installed("claude-code", 9);
    transcript("projects/-a/b.jsonl", 2);
    expect(hookStatus(place, [line(3, 40)], records).warnings).toEqual([
      expect.stringContaining("the hook has heard of none since") as string,
    ]);
    expect(hookStatus(place, [], records).warnings).toHaveLength(1);
    // Sub-agents have no prompts of a person.
    rmSync(join(folder, "projects"), { recursive: true });
    transcript("projects/-a/c/subagents/agent-1.jsonl", 2);
    transcript("projects/-a/before.jsonl", 20);
    expect(hookStatus(place, [], records).warnings).toEqual([]);
  });

  it("warns of Codex that it may not be trusted, of what is switched off, and of a program that is gone", () => {
    const place = installed("codex", 9);
    transcript("sessions/2026/11/24/rollout-x.jsonl", 2);
    writeFileSync(join(folder, "config.toml"), "[features]\nhooks = false\n");
    expect(hookStatus(place, [], records).warnings).toEqual([
      expect.stringContaining("switched off in") as string,
      expect.stringContaining("/hooks in codex") as string,
    ]);
    writeFileSync(
      place.settings,
      JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ command: "'/gone/it'\\''s/hlvm' hook run --tool codex --home '/x'" }] }] } }),
    );
    expect(hookStatus(place, [], records)).toMatchObject({
      mode: "shadow",
      warnings: expect.arrayContaining([expect.stringContaining("/gone/it's/hlvm is gone")]) as string[],
    });
  });

  it("reads what switches Claude Code's hooks off", () => {
    const place = placeOf("claude-code");
    const managed = join(folder, "managed.json");
    expect(switchedOff(place, managed)).toEqual([]);
    writeFileSync(join(folder, "settings.local.json"), '{"disableAllHooks":true}');
    writeFileSync(managed, '{"allowManagedHooksOnly":true}');
    expect(switchedOff(place, managed)).toEqual([
      expect.stringContaining("disableAllHooks") as string,
      expect.stringContaining("allowManagedHooksOnly") as string,
    ]);
  });

  it("tells what is not installed, and settings that cannot be read", () => {
    const place = placeOf("claude-code");
    expect(hookStatus(place, [], records)).toMatchObject({ mode: "not installed", warnings: [] });
    writeFileSync(place.settings, "{");
    expect(hookStatus(place, [], records)).toMatchObject({ mode: "not installed", warnings: [expect.stringContaining("cannot be read")] });
  });
});
