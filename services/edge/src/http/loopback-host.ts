/** Whether a name or address, without a port, can only mean this machine. IPv6 with or without brackets. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Whether a Host header names this machine. A page that a browser loaded from elsewhere keeps its own name in that
 * header, even when that name has been made to point here (DNS rebinding).
 */
export function isLoopbackHostHeader(header: string | undefined): boolean {
  const host = /^(\[[0-9a-f:]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(header ?? "")?.[1];
  return host !== undefined && isLoopback(host.toLowerCase());
}
