import { isPlaceholder } from "./placeholder.ts";
import { looksRandom } from "./looks-random.ts";
import { MARK_SOURCE } from "./secret-mark.ts";
import type { SecretForm } from "./secret-form.ts";

const NAME = String.raw`(?<![\w-])(?:(?:api|access|account|auth|secret|private|signing|encryption|license|admin|deploy)[ _-]?key|token|secret|password|passphrase|passcode|pwd|credential)s?`;
const WORDS = String.raw`(?:[ \t]{1,4}[^\s\d"'\x60]{1,24}){0,6}?`;
const VALUE = String.raw`[^\s"'\x60,;|&<>()[\]{}]{6,512}`;
const FOREIGN = "Passwort|Kennwort|contraseña|mot de passe|senha|wachtwoord|hasło|пароль|密码|密碼|パスワード|비밀번호";

/** Letters and digits, or a sign that no word has; not a number with a unit, a version, a path or a name in parts. */
function looksChosen(value: string): boolean {
  const core = value.replace(/[.!?:]+$/, "");
  if (isPlaceholder(core) || /^[\d.]+[A-Za-z%]*$/.test(core) || /^[~./]|:\/\/|\w\/\w|^v\d/.test(core)) return false;
  if (core.split(/[-_.@]/).some((part) => /^[a-z]{4,}$/.test(part) && part !== core)) return false;
  return /[A-Za-z]/.test(core) && /\d/.test(core);
}

const isRandom = ({ groups }: RegExpExecArray): boolean => looksRandom(groups!.value!.replace(/[.!?:]+$/, ""));
const isChosen = ({ groups }: RegExpExecArray): boolean => looksChosen(groups!.value!);
const kindOf = ({ name }: Readonly<Record<string, string>>): string =>
  /key/i.test(name!) ? "key" : /token/i.test(name!) ? "token" : /secret|credential/i.test(name!) ? "credential" : "password";

/**
 * Secrets as people and commands say them: "the password for staging is …", `--password …`, `curl -u name:…`. How many words may stand
 * between a name and its value is bounded, and so is each word, so that the time stays in proportion to the text.
 */
export const spokenSecrets: readonly SecretForm[] = [
  // What looks made by a machine, within six words of what is secret.
  {
    kind: kindOf,
    pattern: new RegExp(
      `(?<before>(?<name>${NAME})${WORDS}[ \\t]{0,4}[:=]?[ \\t]{1,4}["'\x60]?)(?!${MARK_SOURCE})(?<value>[\\w+/=.~-]{16,512})`,
      "gi",
    ),
    accept: isRandom,
  },
  // "The password for the staging database is …", "user ada password …".
  {
    kind: "password",
    pattern: new RegExp(
      String.raw`(?<before>(?<![\w-])(?:password|passphrase|passcode|pwd)(?:[ \t]{1,4}(?:for|of|to|on|at|in)${WORDS}[ \t]{1,4}(?:is|was|=|:))?[ \t]{1,4}["'\x60]?)(?!${MARK_SOURCE})(?<value>${VALUE})`,
      "gi",
    ),
    accept: isChosen,
  },
  {
    kind: "password",
    pattern: new RegExp(
      String.raw`(?<before>(?:${FOREIGN})(?:[ \t]{0,3}[:：=][ \t]{0,3}|[ \t]{1,3}(?:ist|es|est|é|is)[ \t]{1,3}|是)["'\x60]?)(?<value>${VALUE})`,
      "gi",
    ),
    accept: isChosen,
  },
  {
    kind: "password",
    pattern: new RegExp(String.raw`(?<before>(?<![\w-])pwd["']?[ \t]{0,3}[:=][ \t]{0,3}["']?)(?<value>${VALUE})`, "gi"),
    accept: isChosen,
  },
  { kind: "PIN", sign: "PIN", pattern: /(?<before>\bPIN(?: code)?(?:[ \t]{0,3}[:=]|[ \t]{1,3}is)[ \t]{1,3})\d{4,8}(?!\w)/g },
  // "login: ada / …", "credentials are ada:…".
  {
    kind: "password",
    pattern: new RegExp(
      String.raw`(?<before>\b(?:log-?in|credentials|creds)(?:[:=]|[ \t]{1,3}(?:is|are))[ \t]{1,3}[\w.@+-]{1,64}(?:[ \t]{1,3}[/|][ \t]{1,3}|:))(?<value>${VALUE})`,
      "gi",
    ),
    accept: isChosen,
  },
  {
    kind: "seed phrase",
    pattern: /(?<before>\b(?:seed|recovery|mnemonic)(?: phrase| words)?(?: is|:)? )(?:[a-z]{3,8} ){11,23}[a-z]{3,8}\b/gi,
  },
  // Options of commands.
  {
    kind: "password",
    pattern: new RegExp(
      String.raw`(?<before>(?<![\w-])--?(?:[a-z]{1,16}-)?(?:password|passwd|pass|token|secret|api-?key|access-key|secret-key)[ \t]{1,4}["']?)(?!-)(?<value>${VALUE})`,
      "g",
    ),
    accept: isChosen,
  },
  {
    kind: "password",
    pattern:
      /(?<before>\b(?:sshpass|docker login|podman login|helm registry login)\b[^\r\n|;&]{0,120}?[ \t]-p[ \t]{0,3}["']?)[^\s"'-][^\s"']{3,256}/g,
    accept: ([found]) => !isPlaceholder(found.slice(found.search(/-p[ \t]{0,3}["']?/)).replace(/^-p[ \t]{0,3}["']?/, "")),
  },
  { kind: "password", pattern: /(?<before>\bmysql(?:dump|admin)?\b[^\r\n|;&]{0,120}?[ \t]-p)(?![\s"'$-])[^\s"']{3,256}/g },
  {
    kind: "password",
    pattern:
      /(?<before>\b(?:curl|wget|http|https|xh)\b[^\r\n|;&]{0,120}?[ \t](?:-u|--user|-a|--auth)[ \t=]{1,3}["']?[^\s:"'$]{1,64}:)(?<value>[^\s"'$<][^\s"']{3,256})/g,
  },
];
