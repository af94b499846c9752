const IDS = "tr -dc '0-9\\n' | grep .";

/**
 * Shell commands that print the ids of what runs in a sandbox, with exit code 1 where there is none; pgrep is not on every
 * machine. The patterns are grep's: `[b]eat` finds `beat`, but not the command that looks for it.
 */
export const findProcesses = {
  named: (pattern: string): string => `grep -Elsx '${pattern}' /proc/[0-9]*/comm | ${IDS}`,
  startedAs: (pattern: string): string => `grep -Elas '${pattern}' /proc/[0-9]*/cmdline | ${IDS}`,
};
