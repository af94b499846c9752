import { EXIT_OK, type CommandContext } from "../command.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";
import { LOCAL, ProfileStore } from "../profiles/profile-store.ts";
import { printableLine } from "../terminal/printable.ts";

/** Where one is logged in; what proves it is not shown. */
export function profileList(flags: { json?: boolean }, { config, screen }: CommandContext): number {
  const { current, profiles } = new ProfileStore(config.directory).read();
  const rows = Object.entries(profiles).map(([name, { url, principal }]) => ({ name, url, principal, isCurrent: name === current }));
  if (flags.json === true) for (const { isCurrent, ...row } of rows) process.stdout.write(jsonLine({ ...row, current: isCurrent }));
  else if (rows.length === 0) screen.note("You are logged in nowhere else: hlvm uses this machine's mesh. Elsewhere: hlvm login URL");
  else {
    const cells = rows.map(({ name, url, principal, isCurrent }) => [isCurrent ? "*" : "", name, url, printableLine(principal)]);
    process.stdout.write(table(["", "NAME", "EDGE", "YOU ARE"], cells));
  }
  return EXIT_OK;
}

/** @param name `local`: this machine's mesh */
export async function profileUse(name: string, { config, screen }: CommandContext): Promise<number> {
  const store = new ProfileStore(config.directory);
  const chosen = store.chosen(name);
  await store.update(({ profiles }) => ({ current: chosen?.name ?? "", profiles }));
  screen.note(name === LOCAL ? "hlvm uses this machine's mesh." : `hlvm uses ${chosen!.profile.url}.`);
  return EXIT_OK;
}
