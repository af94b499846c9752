import { HlvmError } from "@hlvm/errors/hlvm-error";
import { canonicalJson, type JsonValue } from "./canonical-json.ts";
import { sha256Hex } from "./sha256-hex.ts";

export interface CanonicalArguments {
  readonly value: { readonly [key: string]: JsonValue };
  /** RFC 8785. */
  readonly json: string;
  /** SHA-256 of `json` in UTF-8, hex. A grant, an approval and an audit row are bound to this. */
  readonly hash: string;
}

/**
 * The one form of a tool call's arguments that is hashed, shown, granted and run.
 * @throws HlvmError `invalid_arguments` where the text is not a JSON object
 */
export function canonicalArguments(argumentsJson: string): CanonicalArguments {
  let value: unknown;
  try {
    value = JSON.parse(argumentsJson);
  } catch (cause) {
    throw notAnObject(`they are not valid JSON (${(cause as Error).message})`, cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw notAnObject(`they are ${value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`}`);
  const json = canonicalJson(value as JsonValue);
  return { value: value as CanonicalArguments["value"], json, hash: sha256Hex(json) };
}

function notAnObject(what: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "invalid_arguments",
    message: `The tool's arguments must be a JSON object: ${what}.`,
    advice: 'Give an object such as {"path": "README.md"}.',
    cause,
  });
}
