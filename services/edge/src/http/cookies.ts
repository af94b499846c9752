import type { Request } from "./read-body.ts";

/** Named so that no other host or path of the site can set it, and none but this host is sent it. */
export const SESSION_COOKIE = "__Host-hlvm";
/** Binds a login that goes on to the browser that began it; the provider's redirect back has to bring it. */
export const LOGIN_COOKIE = "__Host-hlvm-login";

const FORM = /^[A-Za-z0-9_-]{43}$/;

/** The secret in a cookie; undefined where there is none, there are several, or it is none of ours. */
export function cookieOf({ headers: { cookie } }: Request, name: string): string | undefined {
  const values = (cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [value] = values;
  return values.length === 1 && FORM.test(value!) ? value : undefined;
}

/** Strict works for the session: only fetches of our own page need it. @param seconds 0 takes it away */
export function setCookie(name: string, value: string, seconds: number, sameSite: "Strict" | "Lax"): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=${sameSite}`;
}
