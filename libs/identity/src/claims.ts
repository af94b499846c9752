import { ROLES, type Principal, type Role } from "./principal.ts";

type Claims = Readonly<Record<string, unknown>>;

/** Clocks of the mesh's machines may differ by so much. */
const SKEW_SECONDS = 30;

/** Who is meant by `sub`, `organization`, `roles` and, in a delegation, `teams`. @throws Error */
export function principalOf(claims: Claims): Principal {
  const { roles } = claims;
  if (!Array.isArray(roles)) throw new Error("it names no roles");
  const unknown: unknown = roles.find((role) => !ROLES.includes(role as Role));
  if (unknown !== undefined) throw new Error(`there is no role ${String(unknown)}`);
  const { teams } = claims;
  if (teams !== undefined && !(Array.isArray(teams) && teams.every((team) => typeof team === "string")))
    throw new Error("its teams are no list of names");
  const principal = { organization: textOf(claims, "organization"), id: textOf(claims, "sub"), roles: roles as Role[] };
  return teams === undefined ? principal : { ...principal, teams };
}

/** A claim that is a text and not empty. @throws Error */
export function textOf(claims: Claims, name: string): string {
  const value = claims[name];
  if (typeof value !== "string" || value === "") throw new Error(`it has no ${name}`);
  return value;
}

/**
 * When it expires, in seconds since 1970.
 * @throws Error where it has, is from the future, or was given a longer life than anybody may give
 */
export function expiryOf(claims: Claims, longestSeconds: number): number {
  const { iat, exp } = claims;
  if (typeof iat !== "number" || typeof exp !== "number" || !Number.isFinite(iat) || !Number.isFinite(exp))
    throw new Error("it does not say from when to when it holds");
  const now = Date.now() / 1000;
  if (exp <= now) throw new Error("it has expired");
  if (iat > now + SKEW_SECONDS) throw new Error("it is from the future: the clocks of the two machines differ");
  if (exp - iat > longestSeconds) throw new Error(`it would hold for more than ${longestSeconds} s`);
  return exp;
}
