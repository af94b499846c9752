import { replaceSecrets, replaceSecretsInBeginning } from "@hlvm/redaction/replace-secrets";
import { secretMark } from "@hlvm/redaction/secret-mark";

const markOf = (kind: string): string => secretMark(kind);

/** The text with its secrets replaced by what they were: all of it, or of a longer one its first `length` characters. */
export function redactText(text: string, length = Infinity): string {
  return text.length <= length ? replaceSecrets(text, markOf) : replaceSecretsInBeginning(text, length, markOf);
}
