const LONGEST = 2_000;

/**
 * Where a browser goes after a login: a path of ours, or `/` where what was asked for is none. It begins with one `/`, has no
 * control characters, and resolved against our origin stays there.
 */
export function returnPath(wanted: string | null | undefined, publicUrl: URL): string {
  if (wanted === null || wanted === undefined || wanted.length > LONGEST) return "/";
  if (!/^\/(?![/\\])/.test(wanted) || /[\p{Cc}\\]/u.test(wanted)) return "/";
  if (!URL.canParse(wanted, publicUrl)) return "/";
  const resolved = new URL(wanted, publicUrl);
  // Nothing below /auth is a place: a login that ends in another one would go round for ever.
  if (resolved.origin !== publicUrl.origin || resolved.pathname.startsWith("//") || resolved.pathname.startsWith("/auth/")) return "/";
  return `${resolved.pathname}${resolved.search}${resolved.hash}`;
}
