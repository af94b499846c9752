import type { DatabaseSync } from "node:sqlite";
import { basename } from "node:path";
import { jsonRecords, listOf, objectOf, parsed, textOf, type JsonObject } from "./json-records.ts";
import { readDatabase } from "./read-database.ts";
import type { ReadTurn, Tally } from "./read-turn.ts";
import { timeOf } from "./time-of.ts";
import { toolCallText } from "./tool-text.ts";
import { isOurTool, withoutInjected } from "./without-injected.ts";

/** Cursor: `state.vscdb`, and of its command line `agent-transcripts/<id>/<id>.jsonl`, which has neither ids nor times. */
export function cursorTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  return file.endsWith(".jsonl") ? transcriptTurns(file, tally) : readDatabase(file, (database) => bubbleTurns(database, tally));
}

function* bubbleTurns(database: DatabaseSync, tally: Tally): Generator<ReadTurn> {
  const keys = database.prepare("SELECT key FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key");
  const stored = database.prepare("SELECT CAST(value AS TEXT) AS value FROM cursorDiskKV WHERE key = ?");
  const valueOf = (key: string): JsonObject | undefined => parsed(textOf(stored.get(key)?.["value"]));
  for (const { key } of keys.all()) {
    const session = String(key).slice("composerData:".length);
    const composer = valueOf(String(key));
    if (composer === undefined) {
      tally.notUnderstood++;
      continue;
    }
    const listed = listOf(composer["fullConversationHeadersOnly"]);
    const headers = listed.length > 0 ? listed : listOf(composer["conversation"]);
    for (const header of headers) {
      tally.read++;
      const id = textOf(header["bubbleId"]);
      const bubble = valueOf(`bubbleId:${session}:${id}`) ?? (listed.length > 0 ? undefined : header);
      if (id === "" || bubble === undefined) {
        tally.notUnderstood++;
        continue;
      }
      const said = saidIn(bubble);
      if (said.text !== "")
        yield { ...said, session, key: id, title: textOf(composer["name"]), saidAt: timeOf(bubble["createdAt"] ?? composer["createdAt"]) };
    }
  }
}

function saidIn(bubble: JsonObject): Pick<ReadTurn, "speaker" | "text"> {
  const tool = objectOf(bubble["toolFormerData"]);
  const name = textOf(tool?.["name"]);
  if (tool === undefined || name === "")
    return { speaker: bubble["type"] === 1 ? "person" : "assistant", text: withoutInjected(textOf(bubble["text"])) };
  return { speaker: "tool", text: isOurTool(name) ? "" : `${toolCallText(name, tool["rawArgs"])}\n${textOf(tool["result"])}`.trim() };
}

async function* transcriptTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  const session = basename(file, ".jsonl");
  for await (const { number, value } of jsonRecords(file, tally)) {
    const role = value["role"];
    if (role !== "user" && role !== "assistant") {
      if (value["type"] !== "turn_ended") tally.notUnderstood++;
      continue;
    }
    const blocks = listOf(objectOf(value["message"])?.["content"]);
    const common = { session, saidAt: undefined };
    const text = withoutInjected(blocks.map((block) => (block["type"] === "text" ? textOf(block["text"]) : "")).join("\n"));
    if (text !== "") yield { ...common, key: String(number), speaker: role === "user" ? "person" : "assistant", text };
    for (const [at, block] of blocks.entries()) {
      const name = textOf(block["name"]);
      if (block["type"] === "tool_use" && !isOurTool(name))
        yield { ...common, key: `${number}#${at}`, speaker: "tool", text: toolCallText(name, block["input"]) };
    }
  }
}
