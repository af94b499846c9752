import { EVENT_DESCRIPTIONS } from "@hlvm/ndjson/event-descriptions";
import { eventType } from "@hlvm/ndjson/event-type";
import { EXIT_OK } from "../command.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

/** Says what the events of a session mean, which are the lines of `--json`. */
export function events(flags: { readonly json?: boolean }): number {
  const all = (Object.keys(EVENT_DESCRIPTIONS) as (keyof typeof EVENT_DESCRIPTIONS)[]).map((name) => ({
    type: eventType(name),
    description: EVENT_DESCRIPTIONS[name],
  }));
  if (flags.json === true) for (const one of all) process.stdout.write(jsonLine(one));
  else
    process.stdout.write(
      table(
        ["TYPE", "WHAT IT SAYS"],
        all.map(({ type, description }) => [type, description]),
      ),
    );
  return EXIT_OK;
}
