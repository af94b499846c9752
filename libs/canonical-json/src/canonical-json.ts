import canonicalize from "canonicalize";
import { HlvmError } from "@hlvm/errors/hlvm-error";

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** RFC 8785: one text for one value, whatever the order of its keys. */
export function canonicalJson(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new HlvmError({ code: "invalid_argument", reason: "not_json", message: "The value has no JSON form." });
  return text;
}
