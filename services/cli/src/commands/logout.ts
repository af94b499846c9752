import { HlvmError } from "@hlvm/errors/hlvm-error";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { postJson } from "../profiles/post-json.ts";
import { ProfileStore } from "../profiles/profile-store.ts";

/** Ends a login, there and here. @param isForgotten here whatever the edge says */
export async function logout(name: string, { config, screen }: CommandContext, isForgotten = false): Promise<number> {
  const store = new ProfileStore(config.directory);
  const chosen = store.chosen(name === "" ? config.profile : name);
  if (chosen === undefined)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "not_logged_in",
      message: "You are not logged in anywhere: this is this machine's mesh, which asks for no login.",
      advice: "`hlvm profile list` shows your logins.",
    });
  const { profile } = chosen;
  try {
    await postJson(new URL("/auth/cli/revoke", profile.url), { refresh_token: profile.refreshToken });
  } catch (thrown) {
    if (!isForgotten) throw thrown;
    screen.note(`${profile.url} was not told: ${(thrown as Error).message} The login there ends by itself.`, "bad");
  }
  await store.update(({ current, profiles }) => {
    const { [chosen.name]: _, ...others } = profiles;
    return { current: current === chosen.name ? "" : current, profiles: others };
  });
  screen.note(`Logged out of ${profile.url}.`);
  return EXIT_OK;
}
