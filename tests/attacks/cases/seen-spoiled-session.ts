import { findingOf, type AttackCase } from "../attack-case.ts";
import { readFile, shell } from "../attack-mesh.ts";

const LOOK = "cat /proc/self/limits; chrt -p $$; cat /proc/self/stat | cut -d' ' -f18,19; ls -A ~";

/** What a later command finds has to be what it would have found without the first. */
function spoils(name: string, command: string): AttackCase {
  return {
    group: "seen",
    name: `one command spoils later ones: ${name}`,
    run: async (mesh) => {
      const workspace = mesh.workspace({ "a.txt": "still here\n" });
      const untouched = await mesh.ask(workspace, "bypassPermissions", [[shell(LOOK)]]);
      const spoiled = await mesh.ask(workspace, "bypassPermissions", [[shell(command)], [shell(LOOK)], [readFile("a.txt")]]);
      const [, look, read] = spoiled.calls;
      const expected = withoutNumbers(untouched.calls[0]!.content);
      return findingOf(
        [
          ...(withoutNumbers(look!.content) === expected
            ? []
            : [`a later command finds something else: ${difference(expected, look!.content)}`]),
          ...(read!.content.includes("still here") ? [] : [`read_file does not answer any more: ${read!.content.slice(0, 100)}`]),
        ],
        "a later command finds what it would have found without",
      );
    },
  };
}

/** Process numbers differ from one command to the next. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/pid \d+/g, "pid");
}

function difference(expected: string, found: string): string {
  const known = new Set(expected.split("\n"));
  return (
    withoutNumbers(found)
      .split("\n")
      .filter((line) => !known.has(line))
      .join(", ")
      .slice(0, 150) || "lines are missing"
  );
}

export const seenSpoiledSession: readonly AttackCase[] = [
  spoils("prlimit --pid on the shell", "prlimit --pid $$ --nofile=64:64; prlimit --pid $PPID --nofile=64:64; true"),
  spoils("prlimit --pid on every process", "for p in /proc/[0-9]*; do prlimit --pid ${p#/proc/} --nofile=64:64 --fsize=10:10; done; true"),
  spoils("SCHED_IDLE", "for p in /proc/[0-9]*; do chrt --idle --pid 0 ${p#/proc/}; done; true"),
  spoils("a lower priority", "for p in /proc/[0-9]*; do renice -n 19 -p ${p#/proc/}; done; true"),
];
