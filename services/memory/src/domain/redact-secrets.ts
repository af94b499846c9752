import { replaceSecrets } from "@hlvm/redaction/replace-secrets";
import { secretMark } from "@hlvm/redaction/secret-mark";

/** A value on the line below its name, as YAML has it. */
const BELOW =
  /(?<before>(?:password|passwd|passphrase|secret|token|(?:api|access|private)[_-]?key)["']?[ \t]{0,9}:[ \t]{0,9}(?:[|>][+-]?)?[ \t]{0,9}\r?\n[ \t]{1,40})(?<value>[^\s"'#:]{6,512})(?=[ \t]{0,40}(?:[\r\n]|$))/gi;

/** The text with every secret that is known for one replaced by what kind of secret it was. */
export function redactSecrets(text: string): string {
  const clean = replaceSecrets(text, (kind) => secretMark(kind));
  return clean.replace(BELOW, (whole, before: string, value: string) =>
    /\d/.test(value) && /[A-Za-z]/.test(value) ? before + secretMark("credential") : whole,
  );
}
