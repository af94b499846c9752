import { HlvmError } from "@hlvm/errors/hlvm-error";

/**
 * Ids, names and search words are of visible characters; PostgreSQL could not even hold a NUL.
 * @throws HlvmError `control_character`
 */
export function refuseControlCharacters(fields: Readonly<Record<string, string>>): void {
  const name = Object.keys(fields).find((field) => /\p{Cc}/u.test(fields[field]!));
  if (name === undefined) return;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "control_character",
    message: `The field ${name} holds a control character.`,
    advice: "Send it without.",
  });
}
