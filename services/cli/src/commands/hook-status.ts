import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { readHookLog } from "../hook/hook-log.ts";
import { hookPlace } from "../hook/hook-place.ts";
import { hookStatus, type HookStatus } from "../hook/hook-status.ts";
import { HOOK_TOOLS } from "../hook/hook-tool.ts";
import { InstallRecords } from "../hook/install-record.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

/** Exit code 1 where an installed hook seems to be silent. */
export function hookStatusCommand(flags: { json?: boolean }, { config, screen }: CommandContext): number {
  const log = readHookLog(config.directory);
  const all = HOOK_TOOLS.map((tool) => hookStatus(hookPlace(tool, config), log, new InstallRecords(config.directory)));
  if (flags.json === true) for (const status of all) process.stdout.write(jsonLine(status));
  else process.stdout.write(table(["TOOL", "HOOK", "EVENTS", "LAST", "DECIDED", "P50 MS", "P95 MS", "SETTINGS"], all.map(row)));
  const warnings = all.flatMap(({ tool, warnings: of }) => of.map((warning) => `${tool}: ${warning}`));
  if (flags.json !== true) for (const warning of warnings) screen.note(printableLine(warning, 1_000), "warning");
  return warnings.length === 0 ? EXIT_OK : EXIT_FAILED;
}

function row({ tool, found, mode, events, last, p50, p95, settings }: HookStatus): string[] {
  const state = found ? mode : "no such tool here";
  return [tool, state, String(events), last?.at ?? "", last?.decision ?? "", String(p50 ?? ""), String(p95 ?? ""), settings];
}
