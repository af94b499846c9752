import { HlvmError } from "@hlvm/errors/hlvm-error";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { installHook, installedHook, uninstallHook } from "../hook/install-hook.ts";
import { foundPlaces, hookPlace, isFound, type HookPlace } from "../hook/hook-place.ts";
import { InstallRecords } from "../hook/install-record.ts";
import { HOOK_TOOLS, type HookTool } from "../hook/hook-tool.ts";
import { jsonLine } from "../output/json-line.ts";
import { printableLine } from "../terminal/printable.ts";

export interface HookInstallFlags {
  readonly tool?: readonly HookTool[];
  readonly live?: boolean;
  readonly json?: boolean;
}

const TRUST = "Codex runs a new hook once you have trusted it: type /hooks in codex.";

/** @throws HlvmError `tool_not_found`, and as installHook */
export function hookInstall(flags: HookInstallFlags, { config, screen }: CommandContext): number {
  const isLive = flags.live === true;
  const places = flags.tool === undefined ? foundPlaces(config) : flags.tool.map((tool) => hookPlace(tool, config));
  const missing = places.find((place) => !isFound(place));
  if (missing !== undefined || places.length === 0) throw toolNotFound(missing);
  // All are read before any is changed.
  places.forEach(installedHook);
  for (const place of places) {
    const outcome = installHook(place, { isLive, home: config.directory }, new InstallRecords(config.directory));
    if (flags.json === true) process.stdout.write(jsonLine({ tool: place.tool, settings: place.settings, outcome, live: isLive }));
    else
      screen.note(printableLine(`${place.name}: ${outcome === "unchanged" ? "it is there already" : outcome}, ${place.settings}`, 1_000));
    if (place.tool === "codex" && outcome !== "unchanged") screen.note(TRUST);
  }
  if (!isLive && flags.json !== true)
    screen.note(
      printableLine(
        `Nothing is put before a model yet: ${config.directory}/hooks.jsonl and \`hlvm hook status\` tell what would be. Then: hlvm hook install --live`,
        1_000,
      ),
    );
  return EXIT_OK;
}

export function hookUninstall(flags: HookInstallFlags, { config, screen }: CommandContext): number {
  const failures: unknown[] = [];
  for (const place of (flags.tool ?? HOOK_TOOLS).map((tool) => hookPlace(tool, config)))
    try {
      const outcome = uninstallHook(place, new InstallRecords(config.directory));
      if (flags.json === true) process.stdout.write(jsonLine({ tool: place.tool, settings: place.settings, outcome }));
      else if (outcome !== "not-there") screen.note(printableLine(`${place.name}: ${WORDS[outcome]}, ${place.settings}`, 1_000));
    } catch (thrown) {
      failures.push(thrown);
    }
  // What is wrong with one keeps none of the others.
  if (failures.length > 0) throw failures[0];
  return EXIT_OK;
}

const WORDS = {
  restored: "its settings are what they were",
  "taken-out": "taken out; what was changed there since stays",
} as const;

function toolNotFound(place: HookPlace | undefined): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "tool_not_found",
    message:
      place === undefined
        ? "None of Claude Code, Codex and Cursor has a folder here."
        : `${place.name} has no folder here: ${place.folder}.`,
    advice: "Start the tool once, then install the hook.",
  });
}
