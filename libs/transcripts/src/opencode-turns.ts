import type { DatabaseSync } from "node:sqlite";
import { objectOf, parsed, textOf, type JsonObject } from "./json-records.ts";
import { readDatabase } from "./read-database.ts";
import type { ReadTurn, Tally } from "./read-turn.ts";
import { timeOf } from "./time-of.ts";
import { toolCallText } from "./tool-text.ts";
import { isOurTool, withoutInjected } from "./without-injected.ts";

interface Session {
  readonly id: string;
  readonly parent_id: string | null;
  readonly directory: string | null;
  readonly title: string | null;
  readonly revert: string | null;
}
interface Part {
  readonly id: string;
  readonly message_id: string;
  readonly time_created: number;
  readonly data: string;
  readonly message: string;
}

const STRUCTURE = new Set([
  "reasoning",
  "step-start",
  "step-finish",
  "snapshot",
  "patch",
  "compaction",
  "agent",
  "retry",
  "subtask",
  "file",
]);

/** opencode: `opencode.db`. What a person took back is left out; a session below another is a sub-agent's. */
export async function* opencodeTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  yield* readDatabase(file, (database) => turnsOf(database, tally));
}

function* turnsOf(database: DatabaseSync, tally: Tally): Generator<ReadTurn> {
  const sessions = database
    .prepare("SELECT id, parent_id, directory, title, revert FROM session ORDER BY id")
    .all() as unknown as Session[];
  const ids = database.prepare(
    `SELECT part.id FROM part JOIN message ON message.id = part.message_id
     WHERE part.session_id = ? ORDER BY message.time_created, message.id, part.id`,
  );
  const partOf = database.prepare(
    `SELECT part.id, part.message_id, part.time_created, part.data, message.data AS message FROM part JOIN message ON message.id = part.message_id
     WHERE part.id = ?`,
  );
  for (const session of sessions) {
    const until = textOf(parsed(session.revert ?? "")?.["messageID"]);
    for (const { id } of ids.all(session.id)) {
      const part = partOf.get(id!) as unknown as Part | undefined;
      if (part === undefined) continue;
      if (part.message_id === until) break;
      tally.read++;
      const data = parsed(part.data);
      const role = textOf(parsed(part.message)?.["role"]);
      if (data === undefined || role === "") {
        tally.notUnderstood++;
        continue;
      }
      const said = saidIn(data, role === "assistant" ? "assistant" : session.parent_id === null ? "person" : "harness", tally);
      if (said === undefined || said.text === "") continue;
      const about = { folder: session.directory ?? "", title: session.title ?? "" };
      yield { ...said, ...about, session: session.id, key: part.id, saidAt: timeOf(part.time_created) };
    }
  }
}

function saidIn(data: JsonObject, speaker: ReadTurn["speaker"], tally: Tally): Pick<ReadTurn, "speaker" | "text"> | undefined {
  const type = textOf(data["type"]);
  if (type === "text")
    return {
      speaker: data["synthetic"] === true || data["ignored"] === true ? "harness" : speaker,
      text: withoutInjected(textOf(data["text"])),
    };
  if (type === "tool") {
    const name = textOf(data["tool"]);
    const state = objectOf(data["state"]) ?? {};
    if (isOurTool(name)) return undefined;
    return { speaker: "tool", text: `${toolCallText(name, state["input"])}\n${textOf(state["output"]) || textOf(state["error"])}`.trim() };
  }
  if (!STRUCTURE.has(type)) tally.notUnderstood++;
  return undefined;
}
