import type { Command } from "../../domain/isolation.ts";

/** What the waiting shell says: that it waits, or why the command cannot start. */
export const READY = "ready";
export const REFUSALS = { missing: "folder_missing", outside: "folder_outside" } as const;

/**
 * Says that it waits, reads where the command starts and its words, each with the number of its line feeds and then its
 * lines as they are, and becomes the command: with nothing to read, and nothing left of the reading. Every command is run
 * in this one way.
 */
const WAIT_FOR_COMMAND = `echo ${READY} >&3
IFS= read -r kind && IFS= read -r directory && IFS= read -r words || exit
set --
while [ "$words" -gt 0 ]; do
IFS= read -r feeds || exit
word=
while [ "$feeds" -gt 0 ]; do IFS= read -r line || exit; word="$word$line
"; feeds=$((feeds - 1)); done
IFS= read -r line || exit
set -- "$@" "$word$line"; words=$((words - 1))
done
exec </dev/null
cd -P -- "$directory" 2>/dev/null || { echo missing >&3; exit 1; }
case $PWD/ in /workspace/*) ;; *) echo outside >&3; exit 1;; esac
exec 3>&-
unset OLDPWD
[ "$kind" = program ] && exec "$@"
eval "set --; unset kind directory words feeds word line; $1"`;

const BLOCK_BYTES = 512;

/** The waiting shell sets the limits of its processes itself: a program that did would have to be started for each sandbox. */
export function waitForCommand(limits: { readonly openFiles: number; readonly fileBytes: number }): string {
  const { openFiles, fileBytes } = limits;
  return `ulimit -c 0 && ulimit -n ${openFiles} && ulimit -f ${Math.floor(fileBytes / BLOCK_BYTES)} || exit\n${WAIT_FOR_COMMAND}`;
}

/** What a waiting shell is told of its command. */
export function toWaitingShell(command: Command): string {
  const [kind, words] = "program" in command ? ["program", command.program] : ["text", [command.text]];
  const encoded = words.map((word) => `${word.split("\n").length - 1}\n${word}\n`);
  return `${kind}\n${command.directory}\n${words.length}\n${encoded.join("")}`;
}
