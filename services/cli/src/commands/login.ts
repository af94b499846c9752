import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { CommandContext } from "../command.ts";
import { openBrowser } from "../mesh/open-browser.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { deviceLogin } from "../profiles/device-login.ts";
import { loopbackLogin } from "../profiles/loopback-login.ts";
import { LOCAL, ProfileStore } from "../profiles/profile-store.ts";
import { profileOf } from "../profiles/profile-token.ts";
import { printableLine } from "../terminal/printable.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

export interface LoginFlags {
  readonly profile?: string;
  readonly device?: boolean;
}

/** Logs in to an edge elsewhere, and uses it from then on. */
export async function login(address: string, flags: LoginFlags, { config, screen }: CommandContext): Promise<number> {
  const edge = edgeOf(address);
  const name = flags.profile ?? (config.profile === "" ? edge.hostname : config.profile);
  if (name === LOCAL || !/^[\w.[\]:-]{1,100}$/.test(name))
    throw wrongUsage(`A profile cannot be called ${name}.`, "Choose another name: --profile NAME.");
  const show = async (url: URL): Promise<void> => {
    if (await openBrowser(url.href)) screen.note("Log in in your browser.");
    else {
      process.stdout.write(`${url.href}\n`);
      screen.note("Open it in a browser on this machine, and log in. A browser elsewhere: hlvm login URL --device.");
    }
  };
  const showCode = (where: string, code: string): void => {
    process.stdout.write(`${printableLine(code)}\n`);
    screen.note(`Type this code at ${printableLine(where)} within ten minutes. Type no code there that somebody else gave you.`);
  };
  return untilInterrupted(async (signal) => {
    const body = await (flags.device === true ? deviceLogin(edge, showCode, signal) : loopbackLogin(edge, show, signal));
    const profile = profileOf(edge.origin, body);
    await new ProfileStore(config.directory).update(({ profiles }) => ({ current: name, profiles: { ...profiles, [name]: profile } }));
    screen.note(`Logged in to ${edge.origin} as ${printableLine(profile.principal)}. hlvm uses it from now on.`);
    screen.note("Back to this machine's mesh: hlvm profile use local.", "dim");
  });
}

/** @throws HlvmError where a login would go over the network for everybody to read */
function edgeOf(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isLoopback = url !== undefined && /^(127(\.\d+){3}|localhost|\[::1\])$/.test(url.hostname);
  if (url !== undefined && (url.protocol === "https:" || (url.protocol === "http:" && isLoopback))) return new URL(url.origin);
  throw new HlvmError({
    code: "invalid_argument",
    reason: "wrong_usage",
    message: `${printableLine(address)} is not the address of an edge.`,
    advice: "Give one that begins with https://, or http:// on this machine.",
  });
}
