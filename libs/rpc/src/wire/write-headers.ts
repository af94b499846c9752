import type { OutgoingHttpHeaders } from "node:http2";
import type { HeadersInput } from "./headers-input.ts";

/** Adds headers as Node sends them; a name that comes twice gets both values. */
export function writeHeaders(into: OutgoingHttpHeaders, headers: HeadersInput, prefix = ""): void {
  const entries = Array.isArray(headers) || headers instanceof Headers ? headers : Object.entries(headers);
  for (const [name, value] of entries as Iterable<[string, string]>) {
    const key = prefix + name.toLowerCase();
    const existing = into[key];
    into[key] = existing === undefined ? value : Array.isArray(existing) ? [...existing, value] : [String(existing), value];
  }
}
