import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** What services say where one does not understand the other, or the database: see `reasonOf` for each. */
const REASONS: readonly (readonly [reason: string, pattern: RegExp])[] = [
  ["unknown method", /unimplemented/i],
  ["schema", /"code":"(42703|42P01|42883|23502|23514|0A000)"|column .* does not exist|relation .* does not exist|schema_outdated/],
  ["lock of a migration", /"code":"(40P01|55P03)"|deadlock detected|migration_failed/],
  ["validation", /invalid_?argument|violates|unknown (field|enum)|cannot decode/i],
  ["configuration", /invalid_configuration/],
];
/** From here on somebody should look. */
const LEVELS: ReadonlySet<string> = new Set(["warn", "error"]);
const SHOWN_CHARACTERS = 400;
const UNKNOWN = "outcome_unknown";

/** Lines of the services' logs that tell of versions which do not fit together, each kind once a service. */
export function faultsInLogs(directory: string): string[] {
  const faults = new Map<string, string>();
  for (const file of readdirSync(join(directory, "logs"))) {
    for (const line of readFileSync(join(directory, "logs", file), "utf8").split("\n")) {
      const reason = LEVELS.has(levelOf(line)) ? reasonOf(line) : undefined;
      if (reason !== undefined) faults.set(`${file} ${reason}`, `${file}: ${reason}: ${line.slice(0, SHOWN_CHARACTERS)}`);
    }
  }
  return [...faults.values()];
}

/** Calls that failed: the model asks for nothing that can fail, and an interrupted call's outcome is unknown. */
export function faultsInLog(sessionId: string, log: readonly Event[]): string[] {
  return log.flatMap(({ payload }) => {
    if (payload.case !== "toolEnd") return [];
    const { success, errorCode, summary } = payload.value.result ?? {};
    return success === true || errorCode === UNKNOWN ? [] : [`session ${sessionId}: a call failed: ${errorCode}: ${summary}`];
  });
}

function reasonOf(line: string): string | undefined {
  return REASONS.find(([, pattern]) => pattern.test(line))?.[0];
}

/** Lines that are no JSON are of PostgreSQL and Meilisearch, which the services tell of. */
function levelOf(line: string): string {
  try {
    return (JSON.parse(line) as { level?: string }).level ?? "";
  } catch {
    return "";
  }
}
