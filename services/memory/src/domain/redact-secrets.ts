import { replaceSecrets } from "@hlvm/redaction/replace-secrets";
import { secretMark } from "@hlvm/redaction/secret-mark";

/** The text with every secret that is known for one replaced by what kind of secret it was. */
export function redactSecrets(text: string): string {
  return replaceSecrets(text, (kind) => secretMark(kind));
}
