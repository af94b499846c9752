import { hookCommand, readHookCommand, type HookCall } from "./hook-call.ts";
import { ourCommands, withEntries, withoutEntries, type Settings } from "./hook-entries.ts";
import type { HookPlace } from "./hook-place.ts";
import { sha256, type InstallRecord, type InstallRecords } from "./install-record.ts";
import { SettingsFile, settingsNotReadable } from "./settings-file.ts";
import { parseSettings, settingsBytes } from "./settings-text.ts";

export type InstallOutcome = "installed" | "changed" | "unchanged";
export type UninstallOutcome = "restored" | "taken-out" | "not-there";

/**
 * Adds our entries to a tool's settings and keeps what they were before.
 * @throws HlvmError `settings_not_readable`, `settings_not_writable`, `settings_changed`; nothing is changed then
 */
export function installHook({ tool, settings: path }: HookPlace, call: Omit<HookCall, "tool">, records: InstallRecords): InstallOutcome {
  const command = hookCommand({ ...call, tool });
  const file = new SettingsFile(path);
  const present = readSettings(file);
  const there = ourCommands(present);
  if (there.length > 0 && sameSettings(withEntries(withoutEntries(present), tool, command), present)) return "unchanged";
  const record = records.read(path);
  const isOurs = record !== undefined && isAsWritten(file, record);
  const before = isOurs ? record.before : there.length === 0 ? file.bytes : settingsBytes(withoutEntries(present), file.bytes);
  const written = settingsBytes(withEntries(before === undefined ? {} : parseSettings(before), tool, command), before);
  const hashes = [sha256(written), ...(isOurs ? record.written.slice(0, 1) : [])];
  records.write(path, { at: new Date().toISOString(), before, written: hashes });
  try {
    file.replace(written);
  } catch (thrown) {
    if (!isOurs) records.remove(path);
    throw thrown;
  }
  return there.length > 0 ? "changed" : "installed";
}

/**
 * Makes a tool's settings what they were before, to the last byte; where somebody changed them since, takes our entries out of them.
 * @throws HlvmError as above
 */
export function uninstallHook({ settings: path }: HookPlace, records: InstallRecords): UninstallOutcome {
  const file = new SettingsFile(path);
  const record = records.read(path);
  if (record !== undefined && isAsWritten(file, record)) {
    file.replace(record.before);
    records.remove(path);
    return "restored";
  }
  const present = readSettings(file);
  const isThere = ourCommands(present).length > 0;
  if (isThere) {
    const rest = withoutEntries(present);
    const isEmpty = Object.keys(rest).every((key) => key === "version");
    file.replace(record !== undefined && record.before === undefined && isEmpty ? undefined : settingsBytes(rest, file.bytes));
  }
  records.remove(path);
  return isThere ? "taken-out" : "not-there";
}

/** What of ours a tool's settings hold. @throws HlvmError `settings_not_readable` */
export function installedHook({ settings: path }: HookPlace): {
  readonly settings: Settings;
  readonly program?: string;
  readonly isLive?: boolean;
} {
  const settings = readSettings(new SettingsFile(path));
  const [command] = ourCommands(settings);
  return command === undefined ? { settings } : { settings, ...readHookCommand(command) };
}

function readSettings({ path, bytes }: SettingsFile): Settings {
  if (bytes === undefined) return {};
  try {
    const settings = parseSettings(bytes);
    ourCommands(settings);
    return settings;
  } catch (cause) {
    throw settingsNotReadable(path, cause);
  }
}

function isAsWritten({ bytes }: SettingsFile, record: InstallRecord): boolean {
  return bytes !== undefined && record.written.includes(sha256(bytes));
}

function sameSettings(one: Settings, other: Settings): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
