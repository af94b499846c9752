import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { readDatabase } from "./read-database.ts";
import type { ReadTurn, Tally } from "./read-turn.ts";
import { timeOf } from "./time-of.ts";
import { isOurTool, withoutInjected } from "./without-injected.ts";

interface Message {
  readonly session_id: string;
  readonly role: string;
  readonly content: string | null;
  readonly tool_name: string | null;
  readonly timestamp: number;
  readonly title: string | null;
  readonly cwd: string | null;
}

const SPEAKERS: ReadonlyMap<string, ReadTurn["speaker"]> = new Map([
  ["user", "person"],
  ["assistant", "assistant"],
  ["tool", "tool"],
  ["system", "harness"],
]);
/** Its reviewer asked in people's sessions in older builds. */
const REVIEWER = /^Review the conversation above/;

/** Hermes Agent: `state.db`. Compaction in place writes rows a second time; what was said is told by its time and text. */
export async function* hermesTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  yield* readDatabase(file, (database) => turnsOf(database, tally));
}

function* turnsOf(database: DatabaseSync, tally: Tally): Generator<ReadTurn> {
  const columns = (table: string): Set<unknown> =>
    new Set(
      database
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map(({ name }) => name),
    );
  // Older files lack it.
  const folder = columns("sessions").has("cwd") ? "sessions.cwd" : "NULL AS cwd";
  const ids = database.prepare(
    "SELECT messages.id FROM messages JOIN sessions ON sessions.id = session_id ORDER BY session_id, timestamp, messages.id",
  );
  const messageOf = database.prepare(
    `SELECT session_id, role, content, tool_name, timestamp, title, ${folder} FROM messages JOIN sessions ON sessions.id = session_id
     WHERE messages.id = ?`,
  );
  let isReviewed = false;
  for (const { id } of ids.all()) {
    const message = messageOf.get(id!) as unknown as Message | undefined;
    if (message === undefined) continue;
    tally.read++;
    const speaker = SPEAKERS.get(message.role);
    if (speaker === undefined) tally.notUnderstood++;
    const text = withoutInjected(message.content ?? "");
    if (speaker === "person") isReviewed = REVIEWER.test(text);
    if (speaker === undefined || text === "" || isReviewed || isOurTool(message.tool_name ?? "")) continue;
    const hash = createHash("sha256").update(`${message.role}\n${message.timestamp}\n${text}`).digest("hex").slice(0, 32);
    const about = { session: message.session_id, title: message.title ?? "", folder: message.cwd ?? "" };
    yield { ...about, key: hash, speaker, text, saidAt: timeOf(message.timestamp) };
  }
}
