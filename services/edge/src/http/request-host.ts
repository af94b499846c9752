import type { Request } from "./read-body.ts";

/** The name that a request is addressed to, with its port, whatever the version of HTTP. */
export function hostOf({ headers }: Request): string | undefined {
  const host = headers[":authority"] ?? headers.host;
  return typeof host === "string" ? host : undefined;
}
