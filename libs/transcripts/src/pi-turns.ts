import { basename } from "node:path";
import { jsonRecords, listOf, objectOf, textOf, type JsonObject } from "./json-records.ts";
import type { ReadTurn, Tally } from "./read-turn.ts";
import { timeOf } from "./time-of.ts";
import { toolCallText } from "./tool-text.ts";
import { isOurTool, withoutInjected } from "./without-injected.ts";

const OTHER = new Set([
  "model_change",
  "thinking_level_change",
  "compaction",
  "branch_summary",
  "custom",
  "custom_message",
  "label",
  "session_info",
]);

/** pi: `sessions/--<folder>--/<time>_<uuid>.jsonl`. A fork repeats entries with their ids and times. */
export async function* piTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  let session = basename(file, ".jsonl");
  let folder = "";
  for await (const { number, value } of jsonRecords(file, tally)) {
    const type = textOf(value["type"]);
    if (type === "session") {
      session = textOf(value["id"]) || session;
      folder = textOf(value["cwd"]);
    } else if (type === "message") {
      const key = textOf(value["id"]) || String(number);
      let at = 0;
      for (const said of partsOf(objectOf(value["message"]) ?? {}))
        if (said.text !== "")
          yield { ...said, session, folder, key: at++ === 0 ? key : `${key}#${at}`, saidAt: timeOf(value["timestamp"]) };
    } else if (!OTHER.has(type)) tally.notUnderstood++;
  }
}

function* partsOf(message: JsonObject): Generator<Pick<ReadTurn, "speaker" | "text">> {
  const { role, content } = message;
  const texts =
    typeof content === "string" ? [content] : listOf(content).map((block) => (block["type"] === "text" ? textOf(block["text"]) : ""));
  const text = withoutInjected(texts.filter((part) => part !== "").join("\n"));
  if (role === "user") yield { speaker: "person", text };
  else if (role === "assistant") {
    yield { speaker: "assistant", text };
    for (const block of listOf(content)) {
      const name = textOf(block["name"]);
      if (block["type"] === "toolCall" && !isOurTool(name)) yield { speaker: "tool", text: toolCallText(name, block["arguments"]) };
    }
  } else if (role === "toolResult" && !isOurTool(textOf(message["toolName"]))) yield { speaker: "tool", text };
  // What a person kept from the model is kept from memory, too.
  else if (role === "bashExecution" && message["excludeFromContext"] !== true)
    yield { speaker: "tool", text: `${textOf(message["command"])}\n${textOf(message["output"])}`.trim() };
}
