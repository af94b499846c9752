import { HlvmError } from "@hlvm/errors/hlvm-error";
import { postJson } from "./post-json.ts";
import type { Profile, ProfileStore } from "./profile-store.ts";

/** Before it is over by so much it is swapped for the next. */
const EARLY_MILLISECONDS = 60_000;

/** A token that is good now, each time that it is asked for. Several commands at once swap the refresh token once between them. */
export function profileToken(store: ProfileStore, name: string): () => Promise<string> {
  let known: Profile | undefined;
  return async () => {
    known ??= store.read().profiles[name];
    if (known === undefined || !isOver(known)) return known?.accessToken ?? "";
    const { profiles } = await store.update(async (stored) => {
      const profile = stored.profiles[name];
      if (profile === undefined || !isOver(profile)) return stored;
      return { ...stored, profiles: { ...stored.profiles, [name]: await refreshed(profile) } };
    });
    known = profiles[name];
    return known?.accessToken ?? "";
  };
}

function isOver({ expiresAt }: Profile): boolean {
  return Date.parse(expiresAt) - EARLY_MILLISECONDS < Date.now();
}

async function refreshed(profile: Profile): Promise<Profile> {
  try {
    const { body } = await postJson(new URL("/auth/cli/refresh", profile.url), { refresh_token: profile.refreshToken });
    return profileOf(profile.url, body);
  } catch (thrown) {
    if (!(thrown instanceof HlvmError) || thrown.code !== "unauthenticated") throw thrown;
    const { reason, message } = thrown;
    throw new HlvmError({ code: "unauthenticated", reason, message, advice: `Run \`hlvm login ${profile.url}\` again.`, cause: thrown });
  }
}

/** What an edge gives for a login. */
export function profileOf(url: string, body: Readonly<Record<string, string | undefined>>): Profile {
  const { access_token: accessToken, refresh_token: refreshToken, expires_at: expiresAt, principal } = body;
  if (accessToken === undefined || refreshToken === undefined || expiresAt === undefined || principal === undefined)
    throw new HlvmError({
      code: "internal",
      reason: "login_malformed",
      message: `${url} gave no complete login.`,
      advice: "Bring both sides to one version.",
    });
  return { url, principal, accessToken, refreshToken, expiresAt };
}
