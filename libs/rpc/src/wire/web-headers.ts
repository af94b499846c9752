import type { IncomingHttpHeaders } from "node:http2";

/** Node's headers as handlers and callers know headers. */
export function webHeaders(headers: IncomingHttpHeaders): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) result.append(name, each);
  }
  return result;
}
