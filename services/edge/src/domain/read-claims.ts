import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Identified } from "./identity-provider.ts";

/** The token was made a moment ago: by more than so much its time differs from ours only where a clock is wrong. */
const LARGEST_SKEW_SECONDS = 120;
const MOST_GROUPS = 5_000;
const LONGEST_GROUP = 256;
const LONGEST_NAME = 200;

export interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly iat: number;
  readonly [name: string]: unknown;
}

/**
 * Who it is, from claims whose signature, issuer, audience and nonce have been checked.
 * @throws HlvmError `clocks_differ`; `groups_cut` where the list of groups is not whole: to guess would take or give rights
 */
export function identifiedBy(claims: Claims): Identified {
  const skew = Math.round(claims.iat - Date.now() / 1_000);
  if (Math.abs(skew) > LARGEST_SKEW_SECONDS)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "clocks_differ",
      message: `The clocks of the identity provider and of HLVM's server differ by ${Math.abs(skew)} s.`,
      advice: "Set the clocks of both machines (`timedatectl status` says whether one is synchronized).",
    });
  const groups = groupsOf(claims);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    name: nameOf(claims).slice(0, LONGEST_NAME),
    email: claims.email_verified === false || typeof claims.email !== "string" ? "" : claims.email.slice(0, LONGEST_NAME),
    ...(groups === undefined ? {} : { groups }),
  };
}

function nameOf({ name, preferred_username: username }: Claims): string {
  if (typeof name === "string" && name.trim() !== "") return name;
  return typeof username === "string" ? username : "";
}

function groupsOf(claims: Claims): readonly string[] | undefined {
  const elsewhere = claims._claim_names;
  if ((typeof elsewhere === "object" && elsewhere !== null && "groups" in elsewhere) || claims.hasgroups === true)
    throw cut("left them out");
  const { groups } = claims;
  if (groups === undefined || groups === null) return undefined;
  const names: unknown[] = Array.isArray(groups) ? groups : [groups];
  if (names.length > MOST_GROUPS) throw cut(`named ${names.length}, and ${MOST_GROUPS} are as many as there may be`);
  if (!names.every((name) => typeof name === "string" && name !== "" && name.length <= LONGEST_GROUP))
    throw cut("named some that are no names");
  return names as string[];
}

function cut(what: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "groups_cut",
    message: `The identity provider did not say all of your groups: it ${what}.`,
    advice: "Have it name in the claim `groups` only the groups that HLVM is to know (Entra: groups assigned to the application).",
  });
}
