import type { Danger } from "../judge/call-judgement.ts";
import type { LooseCommand } from "./loose-commands.ts";

/** Control and format characters, other blanks than the ordinary ones, and letters that show as nothing. */
const HIDDEN = /(?![\t\n ])[\p{Cc}\p{Cf}\p{Z}\u115f\u1160\u3164\uffa0]/u;
const FORK_BOMB = /([A-Za-z_:.][\w:.]{0,30})\s*\(\s*\)\s*\{[^}]{0,200}\|[^}]{0,200}&/;
const TOP_FOLDER = /^\/(\.{0,2}|\*|(bin|boot|dev|etc|home|lib|lib64|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var)\/?\*?)$/;
const HOME_FOLDER = /^(~|\$HOME|\$\{HOME\})(\/?|\/\*|\/\.\*?)$/;
const DEVICE = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|loop|md|mem|kmem|port)/;
const REMOTE_PROGRAMS = new Set([
  "ssh",
  "scp",
  "sftp",
  "slogin",
  "mosh",
  "telnet",
  "rsh",
  "rlogin",
  "ftp",
  "nc",
  "ncat",
  "netcat",
  "socat",
]);
const STOPPING_PROGRAMS = new Set(["shutdown", "reboot", "halt", "poweroff"]);
const DOWNLOADERS = new Set(["curl", "wget", "fetch", "aria2c"]);
const INTERPRETERS = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "ash",
  "eval",
  "source",
  ".",
  "python",
  "python3",
  "perl",
  "ruby",
  "node",
  "php",
]);
const FORCED = /^(--force(=.*)?|--force-with-lease(=.*)?|--force-if-includes|--mirror|-[a-zA-Z]*f[a-zA-Z]*|\+.+)$/;

const denied = (rule: string, reason: string): Danger => ({ decision: "deny", rule, reason });
const asked = (rule: string, reason: string): Danger => ({ decision: "ask", rule, reason });

/** What is denied whatever the mode, before what is asked whatever the mode. */
export function findDanger(command: string, commands: readonly LooseCommand[]): Danger | undefined {
  const hidden = HIDDEN.exec(command)?.[0];
  if (hidden !== undefined) {
    const point = `U+${hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
    return denied("hidden character", `The command holds ${point}, which a person cannot see; write it without.`);
  }
  if (FORK_BOMB.test(command)) return denied("fork bomb", "It starts itself without end.");
  return firstOf(commands, ruinOf) ?? downloadedCode(commands) ?? firstOf(commands, remoteOf);
}

function firstOf(commands: readonly LooseCommand[], judge: (command: LooseCommand) => Danger | undefined): Danger | undefined {
  for (const command of commands) {
    const danger = judge(command);
    if (danger !== undefined) return danger;
  }
  return undefined;
}

function ruinOf({ words, writesTo }: LooseCommand): Danger | undefined {
  const [program = "", ...rest] = words;
  const isRecursive = rest.some((word) => /^-[a-zA-Z]*[rR]/.test(word) || word === "--recursive");
  const hitsRoot = rest.some((word) => TOP_FOLDER.test(word.replace(/\/{2,}/g, "/")) || HOME_FOLDER.test(word));
  if (program === "rm" && ((isRecursive && hitsRoot) || rest.includes("--no-preserve-root")))
    return denied("rm -r of a system or home folder", "It removes a whole system or home folder.");
  if ((program === "chmod" || program === "chown" || program === "chgrp") && isRecursive && hitsRoot)
    return denied(`${program} -R of a system folder`, "It changes the rights of a whole system folder.");
  if (program === "find" && rest.includes("-delete") && hitsRoot)
    return denied("find -delete in a system folder", "It removes a whole system or home folder.");
  if (program.startsWith("mkfs") || program === "wipefs") return denied("mkfs", "It makes a new file system over what is there.");
  if (
    writesTo.some((target) => DEVICE.test(target)) ||
    (program === "dd" && rest.some((word) => word.startsWith("of=") && DEVICE.test(word.slice(3))))
  )
    return denied("write to a device", "It writes over a disk or the machine's memory.");
  if (STOPPING_PROGRAMS.has(program) || ((program === "init" || program === "telinit") && /^[06]$/.test(rest[0] ?? "")))
    return denied("shutdown", "It stops the machine.");
  if (program === "systemctl" && rest.some((word) => STOPPING_PROGRAMS.has(word))) return denied("shutdown", "It stops the machine.");
  return undefined;
}

function downloadedCode(commands: readonly LooseCommand[]): Danger | undefined {
  const names = commands.map(({ words }) => words[0] ?? "");
  if (!names.some((name) => DOWNLOADERS.has(name)) || !names.some((name) => INTERPRETERS.has(name))) return undefined;
  return asked("downloaded code", "It downloads something and starts an interpreter: what would run is not known.");
}

function remoteOf({ words }: LooseCommand): Danger | undefined {
  const [program = "", ...rest] = words;
  if (REMOTE_PROGRAMS.has(program)) return asked(`remote: ${program}`, "It reaches another machine.");
  if (program === "rsync" && rest.some((word) => /^rsync:\/\/|^[^/:\s-][^/:\s]*:/.test(word)))
    return asked("remote: rsync", "It reaches another machine.");
  if (program === "git" && rest.includes("push") && rest.slice(rest.indexOf("push") + 1).some((word) => FORCED.test(word)))
    return asked("git push --force", "It overwrites what others may have on the remote.");
  return undefined;
}
