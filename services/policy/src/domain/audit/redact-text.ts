import { replaceSecrets } from "@hlvm/redaction/replace-secrets";

/** What the audit log has in the place of a secret. */
export const REDACTED = "[secret]";

/** The text with its secrets replaced: all of it, or of a longer one its first `length` characters. */
export function redactText(text: string, length?: number): string {
  return replaceSecrets(text, () => REDACTED, length);
}
